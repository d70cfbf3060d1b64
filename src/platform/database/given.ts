/** The database of DATABASE_URL, and what a program says when it cannot be used. */
import { type Config, ConfigError } from '../../config.js'
import { connect, type Database } from './client.js'
import { codeOf, isDatabaseUnavailable, messageOf } from './failures.js'

/** For commands that leave the embedded database alone. @throws {ConfigError} when there is no other */
export const givenUrl = ({ databaseUrl }: Config): string => {
  if (databaseUrl !== undefined) return databaseUrl
  throw new ConfigError(['DATABASE_URL is required: this command leaves the embedded database alone'])
}

/** The few connections that a command needs. @throws {ConfigError} */
export const connectToGiven = (config: Config): Database =>
  connect({ url: givenUrl(config), poolSize: 4, prepare: config.databasePrepare })

/** What has to be done about DATABASE_URL, by SQLSTATE or the driver's code. */
const remedies: Record<string, string> = {
  '28P01': 'names a user or a password that the server refuses: correct them',
  '28000': 'names a user whom the server does not let in from here: correct it, or allow it in pg_hba.conf',
  '3D000': 'names a database that does not exist: create it, or correct the name',
  '42501':
    'names a user without the right to create the tables: make it the owner of the database, or grant it CREATE on the database and on its schema "public"',
  '25006':
    'names a database that takes no writes: name the primary, or turn default_transaction_read_only off',
  '3F000': 'names a database without a schema "public": create it',
  REFUSED_PASSWORD:
    'names a server that asks for the password in clear text, which anyone on the way can read: let it use scram-sha-256, or add sslmode=require to the URL, or, on a network that you trust, require_auth=password',
  REFUSED_MD5:
    'names a server that asks for an MD5 hash of the password, which anyone on the way can use to sign in: set the password again with password_encryption = scram-sha-256, or add sslmode=require to the URL, or, on a network that you trust, require_auth=md5',
  REFUSED_NONE: 'names a server that asks for no password, and its require_auth does not list none',
  'REFUSED_SCRAM-SHA-256':
    'names a server that asks for SCRAM authentication, and its require_auth does not list scram-sha-256',
  SASL_SIGNATURE_MISMATCH:
    'names a server that does not prove that it knows the password: another program may answer in its place',
  SASL_ITERATIONS:
    'names a server that asks for a SCRAM hash of more than 1,000,000 iterations: lower scram_iterations there and set the password again',
}

/** PgBouncer has one SQLSTATE for whatever it refuses, and so only its words tell what that was. */
const OF_POOLER = '08P01'
const wordsOfPooler: [state: string, words: RegExp][] = [
  ['28P01', /authentication failed|no such user/],
  ['3D000', /no such database|database ".*" does not exist/],
]

/** What is to be done about DATABASE_URL, as the rest of a sentence; undefined where something else is wrong. */
export const remedyOf = (error: unknown): string | undefined => {
  const code = codeOf(error) ?? ''
  if (code !== OF_POOLER) return remedies[code]
  const state = wordsOfPooler.find(([, words]) => words.test(messageOf(error)))?.[0]
  return state && remedies[state]
}

/** Does what needs the database of DATABASE_URL. @throws {ConfigError} when it is the variable that has to be mended */
export const onGivenDatabase = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    const remedy = remedyOf(error)
    if (remedy !== undefined) throw new ConfigError([`DATABASE_URL ${remedy}`])
    if (!isDatabaseUnavailable(error)) throw error
    throw new ConfigError([
      `DATABASE_URL names a database that cannot be used now: ${messageOf(error) || codeOf(error)}`,
    ])
  }
}
