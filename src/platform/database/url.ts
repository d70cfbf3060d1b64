/** In `postgres://user:password@one:5432,two:5432/name`: all hosts but the first. */
const furtherHosts = /(?<=^[a-z]+:\/\/[^/?#]*)(,[^/?#@,]+)+(?=[/?#]|$)/

export const hasSeveralHosts = (url: string): boolean => furtherHosts.test(url)

/** The same with the first host alone, which is then a URL. */
export const withFirstHost = (url: string): string => url.replace(furtherHosts, '')

/** What `require_auth` of a URL can list: libpq's names of what the driver can do. */
const authenticationMethods = ['password', 'md5', 'scram-sha-256', 'none']

/** Whether the URL either has no `require_auth` or one that the driver understands. */
export const hasKnownAuthentication = (url: URL): boolean => {
  const listed = url.searchParams.get('require_auth')
  return !listed || listed.split(',').every((method) => authenticationMethods.includes(method.trim()))
}
