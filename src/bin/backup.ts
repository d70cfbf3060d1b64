/** Writes all data to one file. */

import '../platform/process/require-node.js'
import { join } from 'node:path'
import { readConfig } from '../config.js'
import { backUp, readTime } from '../operator/backup/back-up.js'
import { isFolder, keepNewest, nameAt } from '../operator/backup/folder.js'
import { withCommandDatabase } from '../platform/database/command-database.js'
import { inDedicatedSession } from '../platform/database/dedicated-session.js'
import { readArguments } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, printToStderr, runCommand } from '../platform/process/program.js'
import { STANDARD } from '../platform/process/whole-file.js'

const USAGE = `npm run backup -- FOLDER [--keep N]
npm run backup -- FILE [--force]

  Writes the whole database to FILE, while the service runs, or to a file in FOLDER that is named after the time, such as
  team-settings-2026-11-24T031500Z.gz. --keep then deletes all but the newest N of these files. An existing FILE stays as it
  is unless you add --force.
  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR.
  \`npm run restore\` restores the file into an empty database. If FILE is -, the backup goes to standard output: it's complete
  only if the exit code is 0.
`

const MAX_KEPT = 10_000

runCommand(async (stopped) => {
  const given = readArguments('backup', USAGE, { keep: '' }, 1, ['force'])
  if (!given) return
  const [place = ''] = given.others
  const { keep } = given.options
  const inFolder = place !== STANDARD && (await isFolder(place))
  if (keep && !inFolder) throw new OperatorError('--keep needs a folder in place of a file.')
  if (keep && !(/^\d+$/.test(keep) && Number(keep) > 0 && Number(keep) <= MAX_KEPT))
    throw new OperatorError(`--keep takes a number from 1 to ${MAX_KEPT}.`)
  const config = readConfig(process.env, { needsSecrets: false })
  const writeLine = place === STANDARD ? printToStderr : print
  const name = await withCommandDatabase(config, stopped, async (url) => {
    const name = inFolder ? nameAt(await inDedicatedSession(url, stopped, readTime)) : ''
    await backUp(url, join(place, name), writeLine, stopped, { replace: given.flags.includes('force') })
    return name
  })
  writeLine(place === STANDARD ? 'The backup is complete.' : `The backup is complete: ${join(place, name)}.`)
  if (!keep) return
  const later = await keepNewest(place, name, Number(keep), { ofDays: true })
  if (later.length > 0)
    writeLine(
      `These backups have names from the future, and stay: ${later.join(', ')}. Check the clock, and move them elsewhere.`,
    )
})
