/** Recognizes values that are probably secrets, such as passwords and tokens. */

const NAME =
  /(?:password|passwd|passphrase|secret|credential|api[-_.]?key|access[-_.]?key|private[-_.]?key|auth[-_.]?key|license[-_.]?key|token|cookie|bearer)s?$/i
/** Tokens of hosts and services, keys in PEM, JSON Web Tokens, and addresses with a password. */
const VALUES = [
  /\b(?:gh[opsur]_|github_pat_|glpat-|glptt-|xox[abeoprs]-|sk-|sk_live_|rk_live_|npm_|pypi-|hf_|dop_v1_|shpat_)[\w-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/,
  /\bAIza[\w-]{30,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /(?:^|[^\w-])eyJ[\w-]{8,}\.[\w-]{8,}\./,
  /:\/\/[^\s/:@]*:[^\s/@]+@/,
  /\b(?:bearer|basic) [\w+/=.-]{16,}/i,
]
/** Long enough for a key, with digits and letters of both cases, and no words of a path or an address. */
const isRandom = (text: string) =>
  /^[\w+/=-]{24,}$/.test(text) &&
  /\d/.test(text) &&
  /[a-z]/.test(text) &&
  (/[A-Z]/.test(text) || /^[\da-f]+$/.test(text))

/** Deeper values aren't read. */
const DEEPEST = 20

/** @param key the setting, or a name in its value */
export const looksSecret = (key: string, value: unknown, depth = 0): boolean => {
  if (depth > DEEPEST) return false
  if (typeof value === 'string')
    return (
      value !== '' && (NAME.test(key) || isRandom(value) || VALUES.some((pattern) => pattern.test(value)))
    )
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) =>
    looksSecret(Array.isArray(value) ? key : name, inner, depth + 1),
  )
}
