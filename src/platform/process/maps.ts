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

export const mapValues = <T, R>(
  record: Record<string, T>,
  map: (value: T, name: string) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
