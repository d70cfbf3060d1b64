/** Counts that all instances share, in Redis or Valkey. Callers and addresses are not known there, only hashes of them. */
import { createHash, createHmac } from 'node:crypto'
import { CircuitBreaker } from '../process/circuit-breaker.js'
import { inTime } from '../process/in-time.js'
import type { Counted, Counts } from './counts.js'
import { RedisConnection, UnknownReply } from './redis-connection.js'

/** The prefix of every key, so that a Redis can be shared. */
const PREFIX = 'team-settings:'
const HASH_LENGTH = 22
/** How long one try to use it may take. */
const TRY_MS = 2_000
/** How long a request waits for an answer, before Redis counts as away. */
const ANSWER_MS = 500

/**
 * Atomic, in one round trip. Only counting creates a key, so an undo after
 * the end of a window leaves no credit in the next one.
 */
const ADD = `
  local left = redis.call('PTTL', KEYS[1])
  if left >= 0 then
    local count = redis.call('INCRBY', KEYS[1], ARGV[1])
    if count < 0 then count = redis.call('INCRBY', KEYS[1], -count) end
    return {count, left}
  end
  if tonumber(ARGV[1]) <= 0 then return {0, 0} end
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return {tonumber(ARGV[1]), tonumber(ARGV[2])}`
const HASH_OF_ADD = createHash('sha1').update(ADD).digest('hex')

const add = async (
  connection: RedisConnection,
  key: string,
  amount: number,
  windowMs: number,
): Promise<Counted> => {
  const given = ['1', key, String(amount), String(windowMs)]
  const reply = await connection.send(['EVALSHA', HASH_OF_ADD, ...given]).catch((error: Error) => {
    if (!error.message.startsWith('NOSCRIPT')) throw error
    return connection.send(['EVAL', ADD, ...given])
  })
  if (!Array.isArray(reply) || reply.length !== 2) throw new UnknownReply()
  const [count = 0, leftMs = 0] = reply
  // Never make a caller wait for longer than a window.
  return { count, leftMs: Math.min(leftMs, windowMs) }
}

/** Explains to the operator why a Redis cannot be used. */
export const redisFault = (error: unknown): string => {
  const { message, code } = error as { message?: string; code?: string }
  const text = message || code || String(error)
  if (/WRONGPASS|invalid password|invalid username-password/i.test(text))
    return 'Redis rejects the user or the password'
  if (/NOAUTH/.test(text)) return 'Redis requires a password'
  return text
}

/** Connects, counts once, and leaves, within seconds. @throws what `redisFault` explains */
export const tryRedis = async (url: string): Promise<void> => {
  const connection = new RedisConnection(url)
  const count = connection.ready.then(() => add(connection, `${PREFIX}probe`, 1, 1))
  try {
    await inTime(count, TRY_MS, () => {
      throw new Error(`No response within ${TRY_MS} ms`)
    })
  } finally {
    connection.destroy()
  }
}

export interface RedisCounts extends Counts {
  /** Whether Redis counts now, and not `fallback`. */
  isShared(): boolean
  close(): void
}

interface RedisOptions {
  url: string
  /** A secret of the installation, so that hashes reveal nothing and differ between installations. */
  secret: string
  /** Counts while Redis is away. */
  fallback: Counts
  onLost: (reason: unknown) => void
  onRestored: () => void
}

/** Resolves within two seconds, whether or not Redis is there. */
export const connectRedis = async ({
  url,
  secret,
  fallback,
  onLost,
  onRestored,
}: RedisOptions): Promise<RedisCounts> => {
  let connection: RedisConnection | undefined
  const probe = async () => {
    if (!connection?.isOpen || circuit.isOpen) {
      connection?.destroy()
      connection = new RedisConnection(url)
    }
    await connection.ready
    await add(connection, `${PREFIX}probe`, 1, 1)
  }
  const circuit = new CircuitBreaker({ probe, onLost, onRestored })
  const keyOf = (limit: string, key: string) => {
    const hash = createHmac('sha256', secret).update(`${limit} ${key}`).digest('base64url')
    return `${PREFIX}${limit}:${hash.slice(0, HASH_LENGTH)}`
  }
  await circuit.start()
  return {
    add: async (limit, key, windowMs, amount) => {
      try {
        return await circuit.run(
          () => add(connection as RedisConnection, keyOf(limit, key), amount, windowMs),
          ANSWER_MS,
        )
      } catch {
        return fallback.add(limit, key, windowMs, amount)
      }
    },
    isShared: () => !circuit.isOpen,
    close: () => {
      circuit.close()
      connection?.destroy()
    },
  }
}
