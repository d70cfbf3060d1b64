/**
 * The addresses that WakaTime tools use. Some tools know only a host, or the paths of other services, so several
 * addresses lead to the same operation.
 */
export const EDITORS = '/api/wakatime/'

const V1 = `${EDITORS}v1/`
const aliases: [alias: RegExp, address: string][] = [
  [/^\/api\/(?:compat\/wakatime\/|hackatime\/|heartbeat\/)?v1\//, V1],
  [/^\/api\/(?=users\/current\/heartbeats(?:\.bulk)?\/?(?:$|\?))/, V1],
  [/^\/api\/heartbeat(?=\/?(?:$|\?))/, `${V1}users/current/heartbeats`],
  [/^\/api\/heartbeats(?=\/?(?:$|\?))/, `${V1}users/current/heartbeats.bulk`],
  // The slash at the end.
  [/(?<=^\/api\/wakatime\/v1\/users\/[^/?]+\/heartbeats(?:\.bulk)?)\/(?=$|\?)/, ''],
]

/** The address that a request is served under, used for access, limits, CORS, logs and metrics. */
export const servedAddress = (url: string): string =>
  aliases.reduce((address, [alias, served]) => address.replace(alias, () => served), url)
