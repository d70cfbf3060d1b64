/** Classifies failed statements by SQLSTATE and driver code. Wrappers of the driver and Drizzle are unwrapped. */

import { codeOf } from '../process/code-of.js'

/** No connection, or no response, in time. The statement may still run, so a write must be safe to repeat. */
export class DatabaseBusy extends Error {
  readonly code = 'DATABASE_BUSY'
}

/**
 * The driver's result doesn't belong to the statement. The connection is broken or out of step, so later
 * results on it can't be trusted either.
 */
export class ImpossibleResponse extends Error {
  readonly code = 'IMPOSSIBLE_RESPONSE'
}

/** The commit was sent, and the connection failed before a response said whether it was done. */
export class UnknownOutcome extends Error {
  readonly code: string | undefined

  constructor(cause: unknown) {
    super('The commit was sent, and no response says whether it was done', { cause })
    this.code = codeOf(cause)
  }
}

const driverCodes = new Set([
  'DATABASE_BUSY',
  'IMPOSSIBLE_RESPONSE',
  'CONNECT_TIMEOUT',
  'ANSWER_TIMEOUT',
  'NOT_COMMITTED',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ENOENT',
  'EACCES',
  'EAGAIN',
  'EPIPE',
])

/**
 * 08 connection, 28 log-in, 53 resources, 57 intervention and timeouts, 58 system, 25006 and 42501 no writes, 25P03
 * idle, 3D000 and 55000 no such or a closed database, 40 conflicts, 55P03 lock.
 */
const unavailableStates = /^(08|28|53|57|58)|^(25006|25P03|3D000|40001|40P01|42501|55000|55P03)$/

/** The server asks for the password in a way that is rejected, or doesn't prove that it knows the password. */
const refusedServers = /^(REFUSED_|SASL_|UNKNOWN_AUTH$|PROTOCOL_VIOLATION$)/

/** OpenSSL and Node codes for a TLS connection that couldn't start, or a server certificate that isn't accepted. */
const tlsFailures =
  /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)|^(EPROTO|INVALID_CA|INVALID_PURPOSE|HOSTNAME_MISMATCH)$/

/** The server's message, or that of a proxy that answered for it. Empty if the connection simply failed. */
export const messageOf = (error: unknown): string => {
  let last = error
  while (last instanceof Error && last.cause instanceof Error) last = last.cause
  return last instanceof Error ? last.message : ''
}

/** A Citus node lost the connection to another one, which it reports with the SQLSTATE for internal errors. */
const isLostNode = (error: unknown): boolean =>
  codeOf(error) === 'XX000' && /^(SSL SYSCALL error|server closed the connection)/.test(messageOf(error))

/** Whether the database is unavailable, so that the response is 503. */
export const isDatabaseUnavailable = (error: unknown): boolean => {
  const code = codeOf(error)
  return (
    code !== undefined &&
    (driverCodes.has(code) ||
      isLostNode(error) ||
      unavailableStates.test(code) ||
      refusedServers.test(code) ||
      tlsFailures.test(code))
  )
}

/** Whether a server other than the expected one may have answered. */
export const isWrongServer = (error: unknown): boolean => refusedServers.test(codeOf(error) ?? '')

/** Whether TLS couldn't start. A server without it closes the connection, or sends something that isn't TLS. */
export const isTlsUnsupported = (error: unknown): boolean =>
  /^(ERR_SSL_|EPROTO$)/.test(codeOf(error) ?? '') || /before secure TLS connection/.test(messageOf(error))

/** Whether the server's certificate isn't accepted. */
export const isCertificateRejected = (error: unknown): boolean =>
  tlsFailures.test(codeOf(error) ?? '') && !isTlsUnsupported(error)

/** Whether nothing answered at the database's address. */
export const isConnectTimeout = (error: unknown): boolean => codeOf(error) === 'CONNECT_TIMEOUT'

/** Whether someone has waited as long as a request may for a connection or a response. */
export const isTimeout = (error: unknown): boolean =>
  ['DATABASE_BUSY', 'CONNECT_TIMEOUT', 'ANSWER_TIMEOUT'].includes(codeOf(error) ?? '')

/** Whether a connection has to be replaced because of its result. */
export const isImpossibleResponse = (error: unknown): boolean => codeOf(error) === 'IMPOSSIBLE_RESPONSE'

/** An earlier statement of the same transaction failed. */
export const isFollowUpFailure = (error: unknown): boolean =>
  ['25P02', 'NOT_COMMITTED'].includes(codeOf(error) ?? '')

/** Two transactions conflicted: a serialization failure or a deadlock. The same work may succeed if it's repeated. */
export const isConflict = (error: unknown): boolean => ['40001', '40P01'].includes(codeOf(error) ?? '')

/** Two transactions conflicted, or a lock timed out. */
export const isLockConflict = (error: unknown): boolean => codeOf(error) === '55P03' || isConflict(error)

/**
 * Another transaction has inserted (23505) or deleted (23503) a row in the meantime, or the work itself has a mistake.
 */
export const isRowConflict = (error: unknown): boolean => ['23505', '23503'].includes(codeOf(error) ?? '')

/**
 * Whether the failure of a commit leaves open what became of the transaction. A server that answers with a rollback or a
 * conflict has committed nothing. One that cancels the commit itself (57014) may be waiting for another node, which has.
 */
export const isOutcomeUnknown = (failureOfCommit: unknown): boolean =>
  isDatabaseUnavailable(failureOfCommit) &&
  !isFollowUpFailure(failureOfCommit) &&
  !isLockConflict(failureOfCommit)
