/** Lists, shows, exports, transfers or deletes workspaces for the operator. */
import '../platform/process/require-node.js'
import type { WorkspaceQuota } from '../../schemas/limits.js'
import { readConfig } from '../config.js'
import { findAccount } from '../operator/accounts.js'
import { exportWorkspace } from '../operator/export-workspace.js'
import {
  deleteWorkspace,
  describeWorkspace,
  describeWorkspaces,
  findWorkspace,
  transferWorkspace,
} from '../operator/workspaces.js'
import { writeExport } from '../operator/write-export.js'
import type { Database } from '../platform/database/client.js'
import { openDatabaseForCommand } from '../platform/database/command-database.js'
import { readArguments, requireCommand } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, runCommand } from '../platform/process/program.js'
import { STANDARD } from '../platform/process/whole-file.js'

const USAGE = `npm run workspaces -- list [--search TEXT]
npm run workspaces -- show ID
npm run workspaces -- export ID FILE
npm run workspaces -- transfer ID LOGIN
npm run workspaces -- delete ID --yes

  list      lists workspaces, with their members and storage use
  --search  only those with TEXT in their name or in a pattern
  show      shows the members, access keys, storage and rows of a workspace
  export    writes settings with their history, patterns, overrides, members and audit trail to FILE, as JSON;
            - is standard output
  transfer  makes an account an admin of the workspace, even if it isn’t a member yet
  delete    deletes the workspace and all of its data, as an admin can
  --yes     confirms the deletion

  LOGIN can also be the account’s id, in this service or on the repository host.
  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR. The service may be
  running, and applies changes within 5 seconds. Admins see a transfer in the audit trail, as made by the operator.
`

interface Call {
  database: Database
  id: string
  /** The last argument: a file or a login. */
  last: string
  search: string
  isSure: boolean
  quota: WorkspaceQuota
  stopped: AbortSignal
}

const show = async ({ database, id }: Call) => {
  const workspace = await findWorkspace(database, id)
  for await (const line of describeWorkspace(database, workspace)) print(line)
  return workspace
}

const commands: Record<string, { takes: number; run: (call: Call) => Promise<unknown> }> = {
  list: {
    takes: 0,
    run: async ({ database, search }) => {
      let total = 0
      for await (const line of describeWorkspaces(database, search)) {
        print(line)
        total++
      }
      if (total === 0) print('No workspaces found.')
    },
  },
  show: { takes: 1, run: show },
  export: {
    takes: 2,
    run: async ({ database, id, last: file, stopped }) => {
      const workspace = await findWorkspace(database, id)
      const pieces = await exportWorkspace(database, workspace.id)
      if (!pieces) throw new OperatorError('The workspace was deleted in the meantime.')
      await writeExport(pieces, file, stopped)
      if (file !== STANDARD) print(`The workspace is in ${file}.`)
    },
  },
  transfer: {
    takes: 2,
    run: async ({ database, id, last: login, quota }) => {
      const [workspace, user] = [await findWorkspace(database, id), await findAccount(database, login)]
      const isChanged = await transferWorkspace(database, workspace, user, quota)
      print(`${user.login} ${isChanged ? 'is now' : 'was already'} an admin of the workspace.`)
    },
  },
  delete: {
    takes: 1,
    run: async (call) => {
      const workspace = await show(call)
      if (!call.isSure) throw new OperatorError('Nothing was deleted. Add --yes to delete all of this.')
      await deleteWorkspace(call.database, workspace)
      print('The workspace is deleted. The service removes its rows within minutes, once it runs.')
    },
  },
}

runCommand(async (stopped) => {
  const given = readArguments('workspaces', USAGE, { search: '' }, [1, 3], ['yes'])
  if (!given) return
  const [name = '', ...rest] = given.others
  const command = requireCommand('workspaces', commands, name, rest)
  const [id = '', last = ''] = rest
  const config = readConfig(process.env, { needsSecrets: false })
  const database = await openDatabaseForCommand(config, stopped)
  const isSure = given.flags.length > 0
  await command.run({
    database,
    id,
    last,
    search: given.options.search,
    isSure,
    stopped,
    quota: config.limits,
  })
})
