/** Response headers, apart from those of HTTP and CORS. */
const text = { type: 'string' }
const integer = { type: 'integer', minimum: 0 }

export const headerComponents = {
  'X-Request-Id': {
    description:
      'Identifies the request in logs and errors. The caller can send one; otherwise the service creates it.',
    required: true,
    schema: { ...text, examples: ['0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'] },
  },
  'RateLimit-Limit': {
    description:
      'How many requests are allowed in a minute, or how many exports in an hour. After too many concurrent requests, how many are allowed. Absent if limits are off.',
    schema: { ...integer, examples: [600] },
  },
  'RateLimit-Remaining': {
    description: 'How many of these requests are left.',
    schema: { ...integer, examples: [598] },
  },
  'RateLimit-Reset': {
    description: 'Seconds until more requests are allowed.',
    schema: { ...integer, examples: [42] },
  },
  'Retry-After': {
    description:
      'Seconds to wait before trying again. Sent with `rate_limited`, `unavailable` and `maintenance`, and with `upstream_failed` if the other service sent it.',
    schema: { ...integer, examples: [1] },
  },
  ETag: {
    description: 'Identifies this version for `If-None-Match` and `If-Match`. Opaque and strong.',
    schema: { ...text, examples: ['"0193a0c27d557cc19c5e-3"'] },
  },
  'Content-Disposition': {
    description: 'The file’s name.',
    schema: { ...text, examples: ['attachment; filename="Acme_2026-11-01_2026-11-21.csv"'] },
  },
  Location: {
    description: 'The URL to which the browser is redirected.',
    required: true,
    schema: { ...text, format: 'uri-reference' },
  },
  'Set-Cookie': {
    description: 'Sets or clears the session and sign-in cookies.',
    schema: text,
  },
} as const

export type HeaderName = keyof typeof headerComponents

/** Schemas must write `if-none-match`, which people know as `If-None-Match`. */
export const canonicalHeaderName = (name: string) =>
  name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())

interface Response {
  content?: object
}

/** References to the response's headers with this status. */
export const headersOf = (
  status: number,
  { content = {} }: Response,
  { limited, onSuccess }: { limited: boolean; onSuccess: readonly HeaderName[] },
) => {
  const names: HeaderName[] = ['X-Request-Id']
  if (limited || status === 429) names.push('RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset')
  if ([429, 502, 503].includes(status)) names.push('Retry-After')
  if (status === 302) names.push('Location')
  if ('text/csv' in content) names.push('Content-Disposition')
  // A failed login clears its cookies.
  names.push(...onSuccess.filter((name) => status < 400 || name === 'Set-Cookie'))
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
