/** Looks up a key in an object. Callers choose the key, and every object also has `constructor` and `__proto__`. */
export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
