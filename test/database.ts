import { randomBytes } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import postgres from 'postgres'
import { clearLeftDatabases, startThrowAwayDatabase } from '../demo/database.js'
import { migrate } from '../src/db/migrate.js'

const TEMPLATE_DATABASE = 'template_service'

const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** The server that `npm test` started. */
const serverUrl = (): string => {
  const url = process.env.TEST_DATABASE_URL
  if (!url) throw new Error('Run the tests with `npm test`, which starts a database for them')
  return url
}

/** A migrated database of its own. */
export const createTestDatabase = async (template = TEMPLATE_DATABASE) => {
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = postgres(serverUrl(), { max: 1, onnotice: () => {} })
  // To copy files takes less than to write every page to the log of changes as well.
  await admin.unsafe(`create database ${name} template ${template} strategy file_copy`)
  return {
    url: withDatabase(serverUrl(), name),
    drop: async () => {
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.end()
    },
  }
}

const FAST_FOLDER = '/dev/shm'
/** Room for the databases of all files that run at once, and for PostgreSQL's log of changes. */
const ENOUGH_BYTES = 2 ** 31

/** Every test gets a database, of hundreds of files: where memory can serve as a disk, that takes a tenth of the time. */
const findFastFolder = async () => {
  await clearLeftDatabases(FAST_FOLDER).catch(() => {})
  const disk = await statfs(FAST_FOLDER).catch(() => undefined)
  return disk && disk.bavail * disk.bsize >= ENOUGH_BYTES ? FAST_FOLDER : undefined
}

const startServer = async (say: (line: string) => void) => {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const log = { info: say, warn: say, error: say }
  return startThrowAwayDatabase({ maxConnections: 300, durable: false, log }, await findFastFolder())
}

/** The server for all tests, with the template of their databases: that of TEST_DATABASE_URL, or one for this run. */
export const startTestServer = async (say: (line: string) => void) => {
  const server = await startServer(say)
  await prepareTemplate(server.url)
  return server
}

const prepareTemplate = async (url: string) => {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${TEMPLATE_DATABASE}`)
  await admin.unsafe(`create database ${TEMPLATE_DATABASE}`)
  await admin.end()
  await migrate(withDatabase(url, TEMPLATE_DATABASE))
}
