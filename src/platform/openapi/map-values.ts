export const mapValues = <T, R>(
  record: Record<string, T>,
  map: (value: T, name: string) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
