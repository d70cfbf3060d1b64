/** Counts that all instances share, in Redis or Valkey. Callers and addresses are not known there, only hashes of them. */
import { createHmac } from 'node:crypto'
import { createClient, defineScript } from '@redis/client'
import { Circuit } from '../runtime/circuit.js'
import type { Counts } from './counts.js'

/** Before every key, for whoever looks into a Redis that others use as well. */
const PREFIX = 'team-settings:'
const HASH_LENGTH = 22
const CONNECT_MS = 1_000
/** How long a request waits for an answer, before Redis counts as away. */
const ANSWER_MS = 500

/**
 * One round trip, and nothing comes in between. What is not there is only made by counting, and what is taken back after
 * its window is over leaves nobody a credit in the next one.
 */
const ADD = defineScript({
  NUMBER_OF_KEYS: 1,
  SCRIPT: `
    local left = redis.call('PTTL', KEYS[1])
    if left >= 0 then
      local count = redis.call('INCRBY', KEYS[1], ARGV[1])
      if count < 0 then count = redis.call('INCRBY', KEYS[1], -count) end
      return {count, left}
    end
    if tonumber(ARGV[1]) <= 0 then return {0, 0} end
    redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return {tonumber(ARGV[1]), tonumber(ARGV[2])}`,
  parseCommand: (parser, key: string, amount: number, windowMs: number) => {
    parser.pushKey(key)
    parser.push(String(amount), String(windowMs))
  },
  transformReply: (reply: unknown) => reply as [count: number, leftMs: number],
})

const clientOf = (url: string) =>
  createClient({
    url,
    scripts: { add: ADD },
    // What cannot be sent now is counted elsewhere, and a lost connection is made anew by the next look.
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
  })

/** Says why a Redis cannot be used, in words for whoever set its URL. */
export const redisFault = (error: unknown): string => {
  const { message, code } = error as { message?: string; code?: string }
  const text = message || code || String(error)
  if (/WRONGPASS|invalid password|invalid username-password/i.test(text))
    return 'Redis refuses the user or the password'
  if (/NOAUTH/.test(text)) return 'Redis wants a password'
  return text
}

/** Connects, counts once, and leaves, within seconds. @throws what `redisFault` explains */
export const tryRedis = async (url: string): Promise<void> => {
  const client = clientOf(url)
  client.on('error', () => {})
  const timer = setTimeout(() => client.destroy(), 2 * CONNECT_MS)
  try {
    await client.connect()
    await client.add(`${PREFIX}probe`, 1, 1)
  } finally {
    clearTimeout(timer)
    if (client.isOpen) client.destroy()
  }
}

export interface RedisCounts extends Counts {
  /** Whether Redis counts now, and not `fallback`. */
  isShared(): boolean
  close(): void
}

interface RedisOptions {
  url: string
  /** Of the installation, so that hashes tell nobody else anything, and no other installation has the same. */
  secret: string
  /** Counts while Redis is away. */
  fallback: Counts
  lost: (reason: unknown) => void
  found: () => void
}

/** Resolves within two seconds, whether or not Redis is there. */
export const connectRedis = async ({
  url,
  secret,
  fallback,
  lost,
  found,
}: RedisOptions): Promise<RedisCounts> => {
  let client = clientOf(url)
  const leave = () => {
    if (client.isOpen) client.destroy()
  }
  const probe = async () => {
    if (circuit.isAway || !client.isReady) {
      leave()
      client = clientOf(url)
      // Whoever waits for an answer is told as well.
      client.on('error', () => {})
      await client.connect()
    }
    await client.add(`${PREFIX}probe`, 1, 1)
  }
  const circuit = new Circuit({ probe, lost, found })
  const keyOf = (limit: string, key: string) => {
    const hash = createHmac('sha256', secret).update(`${limit} ${key}`).digest('base64url')
    return `${PREFIX}${limit}:${hash.slice(0, HASH_LENGTH)}`
  }
  await circuit.start()
  return {
    add: async (limit, key, windowMs, amount) => {
      try {
        const [count = 0, leftMs = 0] = await circuit.run(
          () => client.add(keyOf(limit, key), amount, windowMs),
          ANSWER_MS,
        )
        return { count, leftMs }
      } catch {
        return fallback.add(limit, key, windowMs, amount)
      }
    },
    isShared: () => !circuit.isAway,
    close: () => {
      circuit.close()
      leave()
    },
  }
}
