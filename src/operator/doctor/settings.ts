/** Checks the configuration itself. */
import { existsSync } from 'node:fs'
import type { Config } from '../../config.js'
import { hostKinds } from '../../platform/hosts/index.js'
import { type Finding, findingsOf, ok, problem, warning } from './finding.js'

const ADMIN_KEY_BYTES = 16
const MIN_DISTINCT_CHARACTERS = 8

/** Short secrets have a separate finding. */
const isGuessable = (secret: string) =>
  secret.length >= ADMIN_KEY_BYTES && new Set(secret).size < MIN_DISTINCT_CHARACTERS

export const checkSettings = (config: Config): Finding[] => [
  ...checkOrigins(config),
  ...checkSignIn(config),
  ...checkSecrets(config),
  ...checkBilling(config),
  ...checkProtection(config),
  ...checkStop(config),
]

/** The part of all IPv4 or IPv6 addresses from which on ranges aren't a network's own. All public IPv6 addresses are 1/8. */
const LARGE_PART = 1 / 16

/** Also finds the whole in parts, such as 0.0.0.0/1 and 128.0.0.0/1. */
const isMostOfAll = (ranges: readonly string[]): boolean =>
  [true, false].some((isV6) => {
    const bits = ranges.filter((range) => range.includes(':') === isV6).map((range) => range.split('/')[1])
    const parts = bits.map((text) => (text === undefined ? 0 : 2 ** -Number(text)))
    return parts.reduce((sum, part) => sum + part, 0) >= LARGE_PART
  })

/** What the service needs beyond SHUTDOWN_DELAY_MS, and what the systemd unit and the Kubernetes manifests allow in total. */
const [STOP_MS, ALLOWED_MS] = [10_000, 30_000]

const checkStop = ({ shutdownDelayMs }: Config): Finding[] => {
  const needed = shutdownDelayMs + STOP_MS
  if (needed <= ALLOWED_MS) return []
  const seconds = Math.ceil(needed / 1_000)
  return [
    warning(
      'stop',
      `With SHUTDOWN_DELAY_MS=${shutdownDelayMs}, a stop takes up to ${seconds} s, and supervisors as shipped kill the service after ${ALLOWED_MS / 1_000} s or less.`,
      `Lower it, or allow ${seconds} s: TimeoutStopSec (systemd), stop_grace_period (compose), terminationGracePeriodSeconds (Kubernetes).`,
    ),
  ]
}

const isLocal = (origin: string) => /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(origin)

const checkOrigins = ({ host, baseUrl, siteUrl, trustProxy }: Config): Finding[] => {
  const about = 'addresses'
  const listensToAll = host === '0.0.0.0' || host === '::'
  const findings = findingsOf(
    listensToAll &&
      isLocal(baseUrl) &&
      warning(
        about,
        `The service listens to other machines, but BASE_URL is ${baseUrl}, which other machines can’t reach.`,
        'Set BASE_URL to the address that people use.',
      ),
    siteUrl !== undefined &&
      new URL(siteUrl).protocol !== new URL(baseUrl).protocol &&
      problem(
        about,
        `SITE_URL (${siteUrl}) and BASE_URL (${baseUrl}) aren’t both https: the session cookie doesn’t reach both.`,
        'Serve both with TLS.',
      ),
    !isLocal(baseUrl) &&
      baseUrl.startsWith('http:') &&
      problem(
        about,
        `BASE_URL (${baseUrl}) isn’t https: tokens can be read in transit.`,
        'Put a proxy with TLS in front, and set BASE_URL to its https address.',
      ),
    baseUrl.startsWith('https:') &&
      trustProxy === undefined &&
      problem(
        about,
        'BASE_URL is https, so there is a proxy, but TRUST_PROXY isn’t set: all callers have the proxy’s address and share its limits.',
        "Set TRUST_PROXY to the proxy's address, for example 127.0.0.1.",
      ),
    trustProxy !== undefined &&
      isMostOfAll(trustProxy) &&
      problem(
        about,
        'TRUST_PROXY contains every address, or a large part of all: callers can forge their address, and evade every limit.',
        'Name only the addresses of your own proxies.',
      ),
  )
  return findings.length > 0 ? findings : [ok(about, `The service is at ${baseUrl}.`)]
}

const checkSignIn = ({ repohost, homeUrl }: Config): Finding[] => {
  const about = 'sign-in'
  const { name, defaultUrl, apiUrlOf } = hostKinds[repohost.kind]
  const apiUrl = apiUrlOf(repohost.url)
  const isPublic =
    repohost.url === defaultUrl || (defaultUrl !== undefined && repohost.apiUrl === apiUrlOf(defaultUrl))
  if (isPublic && repohost.apiUrl !== apiUrl) {
    return [
      problem(
        about,
        `REPOHOST_URL (${repohost.url}) and REPOHOST_API_URL (${repohost.apiUrl}) belong to different hosts: the service sends tokens of one host to the other.`,
        `Set REPOHOST_URL to your host’s address, and remove REPOHOST_API_URL: for ${repohost.url} it is ${apiUrl}.`,
      ),
    ]
  }
  const callback = `${homeUrl}/api/auth/callback`
  return [
    repohost.clientId === undefined
      ? ok(
          about,
          `There is no OAuth app, so people sign in with a ${name} token. To add an app, use the callback URL ${callback}.`,
        )
      : ok(about, `The callback URL to enter on ${name} is ${callback}.`),
  ]
}

const checkSecrets = ({ jwtSecrets, webhookKeys, adminKeys, repohost, billing }: Config): Finding[] => {
  const about = 'secrets'
  const findings: Finding[] = []
  const named: [name: string, value: string | undefined][] = [
    ...jwtSecrets.map((value) => ['JWT_SECRETS', value] as [string, string]),
    ...webhookKeys.map((value) => ['WEBHOOK_KEYS', value] as [string, string]),
    ...adminKeys.map((value) => ['ADMIN_KEYS', value] as [string, string]),
    ['REPOHOST_CLIENT_SECRET', repohost.clientSecret],
    ['BILLING_SECRET_KEY', billing.secretKey],
    ['BILLING_WEBHOOK_SECRET', billing.webhookSecret],
  ]
  const given = named.filter(([, value]) => value !== undefined)
  const equal = given.filter(([, value], n) => given.some(([, other], m) => m < n && other === value))
  for (const [name] of equal) {
    findings.push(
      problem(about, `A value of ${name} is used twice.`, 'Create a new one with `openssl rand -base64 48`.'),
    )
  }
  for (const name of new Set(given.flatMap(([name, value = '']) => (/[\r\n]/.test(value) ? [name] : []))))
    findings.push(
      problem(
        about,
        `A value of ${name} has more than one line, and counts as one secret.`,
        'Separate several secrets with a comma, on one line.',
      ),
    )
  if (adminKeys.some((key) => Buffer.byteLength(key) < ADMIN_KEY_BYTES)) {
    findings.push(
      problem(
        about,
        `An admin key is shorter than ${ADMIN_KEY_BYTES} bytes and can be guessed.`,
        'Create a new one with `openssl rand -base64 24`.',
      ),
    )
  }
  for (const name of new Set(given.flatMap(([name, value = '']) => (isGuessable(value) ? [name] : []))))
    findings.push(
      problem(
        about,
        `A value of ${name} has fewer than ${MIN_DISTINCT_CHARACTERS} different characters and can be guessed.`,
        'Create a new one with `openssl rand -base64 48`.',
      ),
    )
  return findings.length > 0 ? findings : [ok(about, 'All secrets are long enough and different.')]
}

const checkBilling = ({ billing }: Config): Finding[] => {
  const { secretKey, webhookSecret, priceMonth, priceYear, dormant } = billing
  if (secretKey === undefined) {
    if (dormant) return []
    return [
      problem(
        'billing',
        'BILLING_DORMANT is false, but no one can subscribe without BILLING_SECRET_KEY.',
        'Set the billing variables, or BILLING_DORMANT=true.',
      ),
    ]
  }
  const missing = Object.entries({
    BILLING_WEBHOOK_SECRET: webhookSecret,
    BILLING_PRICE_MONTH: priceMonth,
    BILLING_PRICE_YEAR: priceYear,
  }).flatMap(([name, value]) => (value === undefined ? [name] : []))
  if (missing.length === 0) return [ok('billing', 'Everything is set.')]
  return [
    warning('billing', `BILLING_SECRET_KEY is set, but not ${missing.join(', ')}.`, 'Set them as well.'),
  ]
}

/** Finds things that an operator turned off for a while and forgot. */
const checkProtection = ({ rateLimits, exemptAddresses, maintenance }: Config): Finding[] =>
  findingsOf(
    !rateLimits &&
      warning('limits', 'RATE_LIMITS is off: nothing stops floods or guessing.', 'Set RATE_LIMITS=on.'),
    isMostOfAll(exemptAddresses) &&
      problem(
        'limits',
        'LIMIT_EXEMPT contains every address, or a large part of all: no limit by address applies to them.',
        'Name only the addresses that you know.',
      ),
    existsSync(maintenance.file) &&
      warning('maintenance', 'The service is in maintenance.', `Remove ${maintenance.file} when it is over.`),
    maintenance.message !== undefined &&
      warning(
        'maintenance',
        'MAINTENANCE is set: the service starts in maintenance every time.',
        'Remove it when the maintenance is over.',
      ),
  )
