const names = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether `host` (the value of a `Host` header) is another name for the machine of `origin`:
 * both are loopback and have the same port, so that the same page shows under both, but without its cookies.
 */
export const isAliasOf = (origin: string, host: string): boolean => {
  const wanted = new URL(origin)
  const address = `${wanted.protocol}//${host}`
  if (!URL.canParse(address)) return false
  const given = new URL(address)
  return (
    names.has(wanted.hostname) &&
    names.has(given.hostname) &&
    given.hostname !== wanted.hostname &&
    given.port === wanted.port
  )
}
