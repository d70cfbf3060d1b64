/** Looks up a text in an object. Callers choose the text, and every object also has `constructor` and `__proto__`. */
export const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
