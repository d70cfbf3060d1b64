/**
 * Backups and restores of a PostgreSQL that archives its WAL as in the handbook: `npm run backup` and
 * `npm run restore`, then a base backup and a recovery to a time after 0.3 million more rows.
 *   --teams 3    teams of 0.3 million rows before the backups
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { programFile } from '../test/process.js'
import { findPrograms, readRecipe, startServer } from '../test/recovery.js'
import { addOthers, benchmark, freshDatabase, JWT_SECRETS, numbersAsked, prepare, say } from './harness.js'

const run = promisify(execFile)
const megabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`

const timed = async <T>(work: () => Promise<T>): Promise<[T, string]> => {
  const since = performance.now()
  const result = await work()
  return [result, `${((performance.now() - since) / 1_000).toFixed(1)} s`]
}

await benchmark(async (cleanUp) => {
  const { teams } = numbersAsked({ teams: 3 })
  const bin = await findPrograms()
  if (!bin) throw new Error('pg_basebackup is not installed')
  const folder = await mkdtemp(join(tmpdir(), 'recovery-'))
  cleanUp(() => rm(folder, { recursive: true, force: true }))
  const scope = { teardown: (work: () => unknown) => cleanUp(async () => void (await work())) }
  const server = await startServer(scope, folder, bin)
  const recipe = await readRecipe()
  await server.shell(recipe.setUp)
  const setting = await prepare(cleanUp, {}, async () => ({ url: server.url, stop: async () => {} }))
  await addOthers(setting, teams)
  const countRows = async () => Number(await server.psql('select count(*) from daily_activity'))
  const size = Number(await server.psql('select pg_database_size(current_database())'))
  const before = await countRows()
  say(`${before} rows of activity, ${megabytes(size)}`)

  const file = join(folder, 'backup.gz')
  const command = (name: string, url: string) =>
    run(process.execPath, [programFile(`src/bin/${name}`), file], {
      env: { PATH: process.env.PATH, DATABASE_URL: url, JWT_SECRETS },
      cwd: folder,
    })
  const [, backup] = await timed(() => command('backup', server.url))
  say(`backup: ${backup}, ${megabytes((await stat(file)).size)}`)
  const empty = await freshDatabase(server.url, 'restored')
  const [, restore] = await timed(() => command('restore', empty))
  say(`restore: ${restore}`)
  await server.psql('drop database restored with (force)')

  const [, base] = await timed(() => server.shell(recipe.backUp))
  say(`base backup: ${base}, ${megabytes(Number(await server.shell('du -sb "$ARCHIVE/base" | cut -f 1')))}`)
  const position = await server.psql('select pg_current_wal_lsn()')
  await addOthers(setting, teams + 1, teams)
  const moment = await server.psql('select clock_timestamp()')
  const rows = await countRows()
  const wal = Number(await server.psql(`select pg_current_wal_lsn() - '${position}'::pg_lsn`))
  await server.psql('delete from daily_activity')
  await setting.service.stop()
  const [, recovery] = await timed(() =>
    server.shell(recipe.restore.replace(/^MOMENT=.*$/m, `MOMENT='${moment}'`)),
  )
  const [, start] = await timed(setting.restart)
  say(`recovery over ${megabytes(wal)} of WAL: ${recovery}; start of the service: ${start}`)
  say(`lost of the ${rows} rows before the accident: ${rows - (await countRows())}`)
})
