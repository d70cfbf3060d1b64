/** Tells an instance that it can't verify the sessions of another one, because their `JWT_SECRETS` differ. */
import type { FastifyInstance } from 'fastify'
import { type Job, repeat } from '../../platform/process/async.js'
import { listSigningKeys, recordSigningKey } from './queries/signing-keys.js'
import { keyIdOf } from './tokens.js'

const PERIOD_MS = 60_000

/**
 * Returns an explanation if one of the keys in use belongs to none of our secrets. Lists may differ, as during a
 * rotation. Each instance only needs every other instance's first secret.
 */
export const secretsFault = (
  inUse: string[],
  secrets: string[],
): { message: string; remedy: string } | undefined => {
  const known = new Set(secrets.map(keyIdOf))
  if (inUse.every((key) => known.has(key))) return undefined
  return {
    message:
      'In the last 5 minutes, another instance signed sessions with a secret that isn’t in JWT_SECRETS here: people who sign in there are signed out here.',
    remedy: 'Set the same JWT_SECRETS for all instances.',
  }
}

/** Compares the secrets of all instances from time to time. `run` compares them at once. */
export const startComparingSecrets = async (app: FastifyInstance): Promise<Job> => {
  const { databaseUrl, jwtSecrets } = app.config
  let hasFault = false
  const compare = async (db = app.database.reserved) => {
    const fault = secretsFault(await listSigningKeys(db), jwtSecrets)
    if (fault && !hasFault) app.log.warn(`${fault.message} ${fault.remedy}`)
    hasFault = fault !== undefined
    // Skipped while the database is read-only, or slow.
    if (await app.isReady().catch(() => false))
      await recordSigningKey(app.database.write, keyIdOf(jwtSecrets[0] ?? ''))
  }
  const job = { run: () => compare() }
  // Only one instance can use the embedded database.
  if (databaseUrl === undefined) return job
  // Startup allows more time.
  await compare(app.database.read)
  repeat(app, PERIOD_MS, () => compare(), 'the comparison of JWT_SECRETS')
  return job
}
