/** Imports a file of heartbeats for a person, as POST /api/wakatime/v1/users/current/import does. */
import '../platform/process/require-node.js'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Import } from '../../schemas/editors.js'
import { limits } from '../../schemas/limits.js'
import { readConfig } from '../config.js'
import { ApiError } from '../errors.js'
import {
  describeImport,
  requireNoImport,
  runImports,
  startImport,
} from '../features/editors/import-heartbeats.js'
import { unpacked } from '../features/editors/parsing/unpack.js'
import { projectHostOf } from '../features/editors/project-names.js'
import { reduceFile } from '../features/editors/reduce-file.js'
import { findAccount } from '../operator/accounts.js'
import { openDatabaseForCommand } from '../platform/database/command-database.js'
import { readArguments } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, runCommand } from '../platform/process/program.js'
import { openInput } from '../platform/process/whole-file.js'

const USAGE = `npm run import-wakatime -- FILE --login LOGIN

  Imports a data dump of WakaTime, or the CSV or JSON of wakapi or hackatime, for the person with this login. The file
  may be gzip, or a ZIP with one such file, and can have up to 2 GiB, unpacked. If FILE is -, it's read from standard input.

  The command uses the database of DATABASE_URL, or if that is unset, the embedded one in DATA_DIR. The service may be
  running.
`
const PROGRESS_MS = 2_000
const WAIT_MS = 200

/** A size for people, such as 135 MB. */
const toSize = (bytes: number): string => {
  if (bytes < 1_000) return `${bytes} bytes`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`
  return bytes < 1_000_000_000
    ? `${Math.round(bytes / 1_000_000)} MB`
    : `${(bytes / 1_000_000_000).toFixed(1)} GB`
}

const toOperatorError = (error: unknown, file: string): unknown => {
  if (error instanceof ApiError && error.code === 'payload_too_large')
    return new OperatorError(`The file ${file} is larger than 2 GiB, unpacked.`)
  if (error instanceof ApiError)
    return new OperatorError(
      error.extras.errors?.map(({ message }) => `The file ${message}.`)[0] ?? error.message,
    )
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall === undefined ? error : new OperatorError(`The file ${file} can’t be read (${code}).`)
}

/** Reads a file and prints the progress. */
async function* readingFile(path: string, stopped: AbortSignal): AsyncGenerator<Buffer> {
  let read = 0
  const progress = setInterval(() => print(`Read ${toSize(read)}`), PROGRESS_MS)
  try {
    for await (const chunk of openInput(path) as AsyncIterable<Buffer>) {
      stopped.throwIfAborted()
      read += chunk.length
      yield chunk
    }
  } finally {
    clearInterval(progress)
  }
  print(`Read ${toSize(read)}.`)
}

/** Heartbeats that don't count, with the reason. */
const toSkipped = ({ time, future, project, recording_off }: Import['skipped']): string[] =>
  [
    { reason: 'no time that can be read', count: time },
    { reason: 'in the future', count: future },
    { reason: 'no project', count: project },
    { reason: 'recording switched off', count: recording_off },
  ].flatMap(({ reason, count }) => (count > 0 ? [`Skipped heartbeats, ${reason}: ${count}`] : []))

runCommand(async (stopped) => {
  const given = readArguments('import-wakatime', USAGE, { login: '' }, 1)
  if (!given) return
  const { login } = given.options
  const [path = ''] = given.others
  if (login === '') throw new OperatorError('Add --login LOGIN, the person for whom to import the file.')
  const config = readConfig(process.env, { needsSecrets: false })
  const database = await openDatabaseForCommand(config, stopped)
  const user = await findAccount(database, login)
  const start = async () => {
    await requireNoImport(database.read, user.id)
    const chunks = unpacked(readingFile(path, stopped))
    const file = await reduceFile(chunks, projectHostOf(config.repohost))
    return startImport(database, user.id, file)
  }
  const { id } = await start().catch((error) => {
    throw toOperatorError(error, path)
  })
  const progress = setInterval(async () => {
    const { days, days_done } = await describeImport(database.read, user.id)
    print(`${days_done} of ${days} days`)
  }, PROGRESS_MS)
  progress.unref()
  const log = { info: ({ reason }: { reason: string }, text: string) => print(`${text}: ${reason}`) }
  const readEnd = async () => {
    for (;;) {
      await runImports(database, config.repohost.kind, log, () => stopped.aborted)
      stopped.throwIfAborted()
      const found = await describeImport(database.read, user.id)
      if (found.id !== id || found.state === 'cancelled')
        throw new OperatorError(`${user.login} cancelled the import. Days that were already added stay.`)
      if (found.state !== 'running') return found
      // The running service is importing a day of this file right now.
      await sleep(WAIT_MS)
    }
  }
  const { state, heartbeats, skipped, days, minutes, own_minutes } = await readEnd()
  clearInterval(progress)
  print(`${heartbeats} heartbeats on ${days} days: ${minutes} minutes were added.`)
  if (own_minutes > 0)
    print(`${own_minutes} more minutes count in no workspace. Only their person sees them.`)
  for (const line of toSkipped(skipped)) print(line)
  if (state === 'failed')
    throw new OperatorError(
      `The import ended early: ${user.login}’s own time can have at most ${limits.own_rows} rows, one per day and project. Days that were already added stay.`,
    )
})
