/** Counts that all instances share, in Redis or Valkey. Redis only sees hashes of callers and addresses. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { withTimeout } from '../process/async.js'
import type { RateCounter, WindowCount } from './counts.js'

/** The prefix of every key, so that a Redis server can be shared with other programs. */
const PREFIX = 'team-settings:'
const HASH_LENGTH = 22
/** How long a connection may take. */
const CONNECT_MS = 2_000
/** How long a request waits for a response before Redis counts as unavailable. */
const ANSWER_MS = 500
const RETRY_MS = 1_000

/**
 * Atomic, in one round trip. Only counting creates a key, so an undo after a window ends leaves no credit for the next
 * one.
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

type RedisWithAdd = Redis & {
  addToWindow(key: string, amount: number, windowMs: number): Promise<[count: number, remainingMs: number]>
}

const createRedis = (url: string, retryStrategy: () => number | null): RedisWithAdd =>
  new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // A request that Redis doesn't answer is counted in memory, and never sent again.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy,
    scripts: { addToWindow: { lua: ADD, numberOfKeys: 1 } },
  }) as RedisWithAdd

/** Explains to the operator why a Redis server can't be used. */
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
  const redis = createRedis(url, () => null)
  const failed = once(redis, 'error').then(([error]) => {
    throw error
  })
  try {
    const counted = redis.connect().then(() => redis.addToWindow(`${PREFIX}probe`, 1, 1))
    // The connection's error says more than the command's.
    counted.catch(() => {})
    await withTimeout(
      Promise.race([
        counted.then(
          () => undefined,
          () => failed,
        ),
        failed,
      ]),
      CONNECT_MS,
      () => {
        throw new Error(`No response within ${CONNECT_MS} ms`)
      },
    )
  } finally {
    redis.disconnect()
  }
}

export interface RedisRateCounter extends RateCounter {
  /** Whether Redis is counting, not `fallback`. */
  isShared(): boolean
  close(): void
}

interface RedisOptions {
  url: string
  /** The installation's secret, so that hashes reveal nothing and differ between installations. */
  secret: string
  /** Counts while Redis is unavailable. */
  fallback: RateCounter
  /** Called once each time Redis stops or starts counting. */
  onLost: (reason: unknown) => void
  onRestored: () => void
}

/** Resolves within two seconds, whether or not Redis responds. */
export const connectRedis = async ({
  url,
  secret,
  fallback,
  onLost,
  onRestored,
}: RedisOptions): Promise<RedisRateCounter> => {
  const redis = createRedis(url, () => RETRY_MS)
  let isLost = false
  let isClosed = false
  const lose = (reason: unknown) => {
    if (isLost || isClosed) return
    isLost = true
    onLost(reason)
  }
  redis.on('error', lose)
  redis.on('close', () => lose(new Error('Redis has closed the connection')))
  redis.on('ready', () => {
    if (isLost) onRestored()
    isLost = false
  })
  const keyOf = (limit: string, key: string) => {
    const hash = createHmac('sha256', secret).update(`${limit} ${key}`).digest('base64url')
    return `${PREFIX}${limit}:${hash.slice(0, HASH_LENGTH)}`
  }
  await withTimeout(redis.connect().catch(lose), CONNECT_MS, () => lose(new Error('Redis didn’t respond')))
  const isShared = () => !isLost && redis.status === 'ready'
  return {
    add: async (limit, key, windowMs, amount): Promise<WindowCount> => {
      if (!isShared()) return fallback.add(limit, key, windowMs, amount)
      try {
        const counted = redis.addToWindow(keyOf(limit, key), amount, windowMs)
        const [count, remainingMs] = await withTimeout(counted, ANSWER_MS, () => {
          throw new Error(`No response within ${ANSWER_MS} ms`)
        })
        // No caller waits longer than one window.
        return { count, remainingMs: Math.min(remainingMs, windowMs) }
      } catch (error) {
        lose(error)
        // Redis counts again once it has answered on a new connection.
        if (redis.status === 'ready') redis.disconnect(true)
        return fallback.add(limit, key, windowMs, amount)
      }
    },
    isShared,
    close: () => {
      isClosed = true
      redis.disconnect()
    },
  }
}
