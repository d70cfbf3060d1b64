/** In `postgres://user:password@one:5432,two:5432/name`: all hosts but the first. */
const furtherHosts = /(,[^/?#@,]+)+(?=[/?#]|$)/

export const hasSeveralHosts = (url: string): boolean => furtherHosts.test(url)

/** The same with the first host alone, which is then a URL. */
export const withFirstHost = (url: string): string => url.replace(furtherHosts, '')
