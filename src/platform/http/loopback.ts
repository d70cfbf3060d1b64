const names = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether `host` (of a `Host` header: a name and perhaps a port) is another name of this very machine for `origin`:
 * both are loopback and have one port, so that the same page shows under both, but no cookie goes with it.
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
