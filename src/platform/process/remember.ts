/** Makes an entry the most recent one of a map, and drops the oldest once there are more than `most`. */
export const remember = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void => {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value as Key)
}
