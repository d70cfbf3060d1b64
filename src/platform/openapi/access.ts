/** Documents who may call an operation, for machines (`security`) and for people. */
import type { RouteOptions } from 'fastify'
import type { Access } from '../access/access.js'

const apiKey = (place: 'cookie' | 'header' | 'query', name: string, description: string) =>
  ({ type: 'apiKey', in: place, name, description }) as const

export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The `token` that `POST /api/auth/verify` returns.',
  },
  accessKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_… or waka_…',
    description:
      'An access key’s secret (`POST /api/me/keys`, `POST /api/team/workspaces/{id}/keys`). The operation names the scope that the key needs.',
  },
  cookie: apiKey(
    'cookie',
    'svc_token',
    'Set by the browser sign-in (`GET /api/auth/repohost`). The browser sends it automatically. Over https, the service also sets `__Host-svc_token`, which takes precedence when a browser sends both.',
  ),
  editorKey: {
    type: 'http',
    scheme: 'basic',
    description: 'An access key as the user name, with or without `waka_`, as WakaTime tools send it.',
  },
  editorKeyQuery: apiKey(
    'query',
    'api_key',
    'An access key in the query, for WakaTime tools in browsers. Queries aren’t logged.',
  ),
  adminKey: apiKey('header', 'X-Service-Admin-Key', 'The operator’s admin key.'),
  adminKeyQuery: apiKey('query', 'key', 'The operator’s admin key, in the query.'),
  billingSignature: apiKey(
    'header',
    'Billing-Signature',
    "The billing provider's signature over the raw body.",
  ),
  hubSignature: apiKey(
    'header',
    'X-Hub-Signature-256',
    'The signature of GitHub, Forgejo or Gitea over the raw body.',
  ),
  forgejoSignature: apiKey('header', 'X-Forgejo-Signature', 'The signature of Forgejo over the raw body.'),
  giteaSignature: apiKey('header', 'X-Gitea-Signature', 'The signature of Gitea over the raw body.'),
  gitlabToken: apiKey('header', 'X-Gitlab-Token', 'The webhook secret, as GitLab sends it.'),
} as const

export const securityOf = ({ config }: RouteOptions) => {
  switch (config?.access?.credential) {
    case 'session':
      return [
        { bearer: [] },
        ...(config.access.tokenOf ? [{ editorKey: [] }, { editorKeyQuery: [] }] : [{ cookie: [] }]),
        // The description names the scopes, because `security` can list them only for OAuth.
        ...(config.access.scopes?.length ? [{ accessKey: [] }] : []),
      ]
    case 'adminKey':
      return [{ adminKey: [] }, { adminKeyQuery: [] }]
    case 'signature':
      return [{ billingSignature: [] }]
    case 'webhookSecret':
      return [{ hubSignature: [] }, { forgejoSignature: [] }, { giteaSignature: [] }, { gitlabToken: [] }]
    default:
      return []
  }
}

/** The paragraph about access in an operation's description. */
export const callersOf = ({ config }: RouteOptions): string => {
  if (!config?.access) return ''
  const who = `**Access:** ${config.access.callers}.`
  const pro = config.pro ? ' Requires Pro if billing is enabled.' : ''
  return `${who}${pro}${keysOf(config.access)}`
}

const keysOf = ({ credential, scopes = [], dryRunScopes = [], personalKeysOnly }: Access): string => {
  if (credential !== 'session') return ''
  const sufficient = [...scopes, ...dryRunScopes]
  if (sufficient.length === 0) return '\n\n**Access keys:** none.'
  const named = sufficient.map((scope) => `\`${scope}\``).join(' or ')
  return `\n\n**Access keys:** ${personalKeysOnly ? 'personal keys ' : ''}with the scope ${named}.`
}
