import { randomBytes } from 'node:crypto'
import postgres from 'postgres'

export const TEMPLATE_DATABASE = 'template_service'

export const withDatabase = (url: string, name: string): string => {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** The server that `npm test` started. */
export const serverUrl = (): string => {
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
