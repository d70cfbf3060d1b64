/** Rejects bodies that can't be valid counts before they are parsed. */
import { limits } from '../../../schemas/limits.js'
import { invalid } from '../../errors.js'

/**
 * Every value of a JSON text but the first follows one of these characters, so their number bounds the cost of parsing in
 * time and memory. Few bytes can cost much: 24 MiB of `{},` become a gigabyte.
 */
const OPENERS = new Uint8Array(256)
for (const character of ',:[{') OPENERS[character.charCodeAt(0)] = 1

/** The number in the largest valid body, `{"workspace":…,"day":…,"members":[…]}`. Logins may contain such characters. */
const PER_REPO = 5
const PER_MEMBER = 6 + limits.login_length + limits.counts_repos_per_member * PER_REPO
const MOST_OPENERS = 7 + limits.counts_members * PER_MEMBER

/** A loop over an index with a local variable. Other ways are 5 to 20 times slower. */
const countOpeners = (chunk: Buffer): number => {
  let total = 0
  for (let at = 0; at < chunk.length; at++) total += OPENERS[chunk[at] as number] as number
  return total
}

const tooManyValues = () =>
  invalid(
    '/body',
    `has more values than ${limits.counts_members} members with ${limits.counts_repos_per_member} repositories each`,
  )

/** Inspects the chunks of one body. @throws {ApiError} `validation_failed` */
export const limitOpeners = (): ((chunk: Buffer) => void) => {
  let openers = 0
  return (chunk) => {
    openers += countOpeners(chunk)
    if (openers > MOST_OPENERS) throw tooManyValues()
  }
}
