/** The code of an error, or of the first of its causes that has one, such as `ENOENT` or `23505`. */
export const codeOf = (error: unknown): string | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown }
    if (typeof code === 'string') return code
  }
  return undefined
}
