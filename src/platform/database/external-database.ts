/** The database of DATABASE_URL, and the error messages for when it can't be used. */

import { own } from '../../../schemas/own.js'
import type { Config } from '../../config.js'
import { codeOf } from '../process/code-of.js'
import { ConfigError } from '../process/config-error.js'
import { OperatorError } from '../process/operator-error.js'
import { connect, type Database } from './client.js'
import { openSession } from './dedicated-session.js'
import {
  isCertificateRejected,
  isDatabaseUnavailable,
  isLockConflict,
  isTlsUnsupported,
  messageOf,
} from './failures.js'
import { isTransactionPooler } from './requirements.js'

/** For commands that never use the embedded database. @throws {ConfigError} without DATABASE_URL */
export const requireDatabaseUrl = ({ databaseUrl }: Config): string => {
  if (databaseUrl !== undefined) return databaseUrl
  throw new ConfigError(['DATABASE_URL is required: this command doesn’t use the embedded database'])
}

/** The few connections needed by a command. @throws {ConfigError} */
export const connectToDatabaseUrl = (config: Config): Database =>
  connect({ url: requireDatabaseUrl(config), poolSize: 4, prepare: config.databasePrepare })

/** How to fix DATABASE_URL, by SQLSTATE or the driver's code. */
const remedies: Record<string, string> = {
  '28P01': 'has a user or password that the server rejects: correct them',
  '28000':
    'names a user that the server doesn’t accept from this machine: correct it, or allow it in pg_hba.conf',
  '3D000': 'names a database that doesn’t exist: create it, or correct the name',
  '42501':
    'names a user without the right to create the tables: make it the owner of the database, or grant it CREATE on the database and on its schema "public"',
  '25006':
    'names a database that accepts no writes: name the primary, or turn default_transaction_read_only off',
  '3F000': 'names a database without a schema "public": create it',
  REFUSED_PASSWORD:
    'names a server that asks for the password in clear text, which anyone on the network can read: configure scram-sha-256, or add sslmode=require to the URL, or, on a network that you trust, require_auth=password',
  REFUSED_MD5:
    'names a server that asks for an MD5 hash of the password, which anyone on the network can use to sign in: set the password again with password_encryption = scram-sha-256, or add sslmode=require to the URL, or, on a network that you trust, require_auth=md5',
  REFUSED_NONE: 'names a server that asks for no password, and require_auth doesn’t list none',
  'REFUSED_SCRAM-SHA-256':
    'names a server that asks for SCRAM authentication, and require_auth doesn’t list scram-sha-256',
  SESSION_SETTINGS: 'names a transaction pooler such as PgBouncer: set DATABASE_PREPARE=false',
  SASL_SIGNATURE_MISMATCH:
    'names a server that doesn’t prove that it knows the password: another program may be impersonating it',
  SASL_ITERATIONS:
    'names a server that asks for a SCRAM hash of more than 1,000,000 iterations: lower scram_iterations there and set the password again',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'names a server whose TLS certificate is for another host: write the host as the certificate has it',
  CERT_HAS_EXPIRED: 'names a server whose TLS certificate has expired: renew it there',
  CERT_NOT_YET_VALID:
    'names a server whose TLS certificate isn’t valid yet: set this machine’s clock, or renew the certificate',
}

const WITHOUT_TLS =
  'asks for TLS with sslmode, and the server doesn’t offer it: turn it on there, or, on a network that you trust, remove sslmode'
/** Node reads the variable before the file `.env` is read. */
const UNKNOWN_AUTHORITY =
  'names a server whose TLS certificate is from an unknown authority: set NODE_EXTRA_CA_CERTS to the file of its certificate, in the environment and not in .env'

/** Citus has no SQLSTATE for this. */
const REFUSED_BY_WORKER = 'operation is not allowed on this node'
const WORKER =
  'names a worker of a cluster, where the schema can’t change: run npm run migrate and npm run distribute with the coordinator first'

/** PgBouncer uses one SQLSTATE for every rejection, so only its message tells them apart. */
const POOLER_ERROR = '08P01'
const poolerMessages: [state: string, words: RegExp][] = [
  ['SESSION_SETTINGS', /unsupported startup parameter/],
  ['28P01', /authentication failed|no such user/],
  ['3D000', /no such database|database ".*" does not exist/],
]

/** How to fix DATABASE_URL, as the second part of a sentence. Undefined if the problem is elsewhere. */
export const remedyOf = (error: unknown): string | undefined => {
  const code = codeOf(error) ?? ''
  if (isTlsUnsupported(error)) return WITHOUT_TLS
  if (messageOf(error) === REFUSED_BY_WORKER) return WORKER
  if (isCertificateRejected(error)) return own(remedies, code) ?? UNKNOWN_AUTHORITY
  if (code !== POOLER_ERROR) return own(remedies, code)
  const state = poolerMessages.find(([, words]) => words.test(messageOf(error)))?.[0]
  return state && own(remedies, state)
}

/**
 * Behind a transaction pooler, the settings of sessions are lost, and prepared statements fail unless the pooler keeps
 * them.
 * @returns what to do if there's a pooler
 */
export const findPooler = async (url: string): Promise<string | undefined> => {
  const [sql, other] = [openSession(url), openSession(url)]
  try {
    return (await isTransactionPooler(sql, other)) ? `DATABASE_URL ${remedies.SESSION_SETTINGS}` : undefined
  } finally {
    await Promise.all([sql, other].map((client) => client.end({ timeout: 1 })))
  }
}

/** Temporary states of a server that was reached: it broke the connection, is starting or stopping, or is full. */
const PASSING = /^(ECONNRESET|EPIPE|CONNECTION_(CLOSED|ENDED|DESTROYED)|08006|53\d{3}|57P0[123])$/

/** How to fix network errors. */
const networkRemedies: Record<string, string> = {
  ECONNREFUSED: 'Start it, or correct the host and port.',
  ENOTFOUND: 'Correct the host. In a password, write @ as %40 and / as %2F.',
}

/** Awaits work on the database of DATABASE_URL. @throws {ConfigError} if the variable needs fixing */
export const explainDatabaseErrors = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    const remedy = remedyOf(error)
    if (remedy !== undefined) throw new ConfigError([`DATABASE_URL ${remedy}`])
    if (!isDatabaseUnavailable(error)) throw error
    if (isLockConflict(error))
      throw new OperatorError(
        `The database didn’t grant a lock in time (${messageOf(error)}). Nothing is wrong with the configuration: start again.`,
      )
    const code = codeOf(error) ?? ''
    if (PASSING.test(code))
      throw new OperatorError(
        `The database of DATABASE_URL broke off the connection, or accepts none now: ${messageOf(error) || code}. Look at its log, and start again.`,
      )
    const [cause, fix] = [messageOf(error) || code, own(networkRemedies, code)]
    throw new ConfigError([
      `DATABASE_URL names a database that can’t be used now: ${fix === undefined ? cause : `${cause}. ${fix}`}`,
    ])
  }
}
