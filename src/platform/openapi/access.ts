/** Who may call an operation, for machines (`security`) and for people. */
import type { RouteOptions } from 'fastify'

export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The `token` that `POST /api/auth/verify` returns.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_token',
    description:
      'Set by the sign-in with the browser (`GET /api/auth/repohost`). The browser sends it by itself. Over https a twin, `__Host-svc_token`, is set as well, and decides when both are sent.',
  },
  adminKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Admin-Key',
    description: 'An admin key of the operator.',
  },
  adminKeyQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'key',
    description: 'An admin key of the operator, in the query.',
  },
  billingSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'Billing-Signature',
    description: "The billing provider's signature over the raw body.",
  },
} as const

export const securityOf = ({ config }: RouteOptions) => {
  switch (config?.access?.credential) {
    case 'session':
      return [{ bearer: [] }, { cookie: [] }]
    case 'adminKey':
      return [{ adminKey: [] }, { adminKeyQuery: [] }]
    case 'signature':
      return [{ billingSignature: [] }]
    default:
      return []
  }
}

/** The paragraph about access in the description of an operation. */
export const whoMayCall = ({ config }: RouteOptions): string => {
  if (!config?.access) return ''
  const who = `**Access:** ${config.access.callers}.`
  return config.pro ? `${who} Requires Pro once billing is no longer dormant.` : who
}
