/** Shorter names are too often within one letter of each other. */
const LONG_NAME = 8

/**
 * The known name that was probably meant: different capitals, or one or two wrong letters. Undefined if the name is
 * known or nothing comes close.
 */
export const nearestTo = (name: string, known: string[]): string | undefined => {
  if (known.includes(name)) return undefined
  const upper = name.toUpperCase()
  const near = known
    .map((other) => ({ other, letters: Math.min(distance(upper, other), distanceToStart(upper, other)) }))
    .filter(({ other, letters }) => letters <= (other.length < LONG_NAME ? 1 : 2))
  return near.sort((a, b) => a.letters - b.letters)[0]?.other
}

/**
 * The distance to the first words of a longer name, as in `DATABSE_POOL` for `DATABASE_POOL_SIZE`: at least two of at
 * least three words.
 */
const distanceToStart = (name: string, other: string): number => {
  const words = name.split('_').length
  const known = other.split('_')
  if (words < 2 || words >= known.length || name.length < LONG_NAME) return Number.POSITIVE_INFINITY
  return distance(name, known.slice(0, words).join('_'))
}

/** The number of letters to insert, delete or replace to turn one text into the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === b[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
