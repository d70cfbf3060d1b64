/** Who may call an operation: for machines (`security`), and for people. */
import type { RouteOptions } from 'fastify'

export const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The `token` that `POST /api/auth/verify` answers with.',
  },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_token',
    description:
      'Set by the browser login (`GET /api/auth/repohost`); sent by the browser itself. Over https a twin, `__Host-svc_token`, is set as well and decides where it is sent.',
  },
  adminKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Admin-Key',
    description: 'An admin key of the operator.',
  },
  adminKeyQuery: { type: 'apiKey', in: 'query', name: 'key', description: 'The same in the query.' },
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

/** A paragraph for the description of an operation. */
export const whoMayCall = ({ config }: RouteOptions): string => {
  if (!config?.access) return ''
  const who = `**Who:** ${config.access.callers}.`
  return config.pro ? `${who} Needs Pro once billing is no longer dormant.` : who
}
