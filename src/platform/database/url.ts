/** Matches all hosts except the first in `postgres://user:password@one:5432,two:5432/name`. */
const furtherHosts = /(?<=^[a-z]+:\/\/[^/?#]*)(,[^/?#@,]+)+(?=[/?#]|$)/

export const hasSeveralHosts = (url: string): boolean => furtherHosts.test(url)

/** The connection string with only its first host, which makes it a URL. */
export const withFirstHost = (url: string): string => url.replace(furtherHosts, '')

/** The values of `require_auth` that the driver supports, in libpq's words. */
const authenticationMethods = ['password', 'md5', 'scram-sha-256', 'none']

/** Whether the URL has no `require_auth`, or one that the driver supports. */
export const hasKnownAuthentication = (url: URL): boolean => {
  const listed = url.searchParams.get('require_auth')
  return !listed || listed.split(',').every((method) => authenticationMethods.includes(method.trim()))
}

const tlsModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']
/** Other TLS parameters that the driver knows. */
const tlsParameters = ['ssl', 'sslnegotiation', 'sslrootcert']

/**
 * Whether the driver knows every TLS parameter. Otherwise it would connect without TLS, or with stricter
 * or weaker checks than requested.
 */
export const hasKnownTlsParameters = (url: URL): boolean =>
  [...url.searchParams].every(([name, value]) => {
    if (name === 'sslmode') return tlsModes.includes(value)
    return !/^ssl/i.test(name) || tlsParameters.includes(name)
  })

/**
 * Whether a user or password was put into a URL without encoding: a `/`, `?` or `#` in it ends the host, and a `%`
 * encodes nothing. The name of the database and parameters may contain an `@`.
 */
export const hasUnescapedPassword = (url: string): boolean => {
  const withoutParameters = url.replace(/\?[a-z_]+=.*$/s, '')
  const withoutDatabase = withoutParameters.replace(/(?<=^[a-z]+:\/\/[^/?#]*@[^/?#]*)\/[^/?#]*$/, '')
  const [, user = ''] = /^[a-z]+:\/\/(.*)@/s.exec(withoutDatabase) ?? []
  return /[/?#]|%(?![0-9a-f]{2})/i.test(user)
}
