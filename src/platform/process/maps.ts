import { LRUCache } from 'lru-cache'

/**
 * A cache of the most recently used entries, at most `entries`. It counts their size, because with `max` the package
 * would reserve a mebibyte for 50,000 entries before the first one.
 */
export const createCache = <Key extends object | string, Value extends object | string | true>(
  entries: number,
  memoMethod?: (key: Key) => Value,
): LRUCache<Key, Value> =>
  new LRUCache<Key, Value>({ maxSize: entries, sizeCalculation: () => 1, ...(memoMethod && { memoMethod }) })

/** Each key's items, in order, like `Map.groupBy` in newer versions of Node. */
export const groupBy = <Key, Item>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> => {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}

/** The value of a key that a map is known to have. @throws if it has none */
export const requireValue = <Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value => {
  const value = map.get(key)
  if (value === undefined) throw new Error(`The map has no value for ${String(key)}`)
  return value
}

export const mapValues = <T, R>(
  record: Record<string, T>,
  map: (value: T, name: string) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
