/** Who may call an operation: for machines (`security`), and for people. */
import type { RouteOptions } from 'fastify'
import type { Access } from '../access/kinds.js'

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
  const access = config?.access
  if (!access || access.kind === 'anyone' || access.kind === 'nobody') return []
  if (access.kind === 'adminKey') return [{ adminKey: [] }, { adminKeyQuery: [] }]
  if (access.kind === 'billingSignature') return [{ billingSignature: [] }]
  return [{ bearer: [] }, { cookie: [] }]
}

const callersOf = (access: Access): string => {
  switch (access.kind) {
    case 'anyone':
    case 'nobody':
      return 'anyone'
    case 'anyCaller':
      return 'any signed-in caller'
    case 'workspace':
      return access.role === 'admin' ? 'an admin of the workspace' : 'a member of the workspace'
    case 'repo':
      return `${access.role === 'admin' ? 'an admin' : 'a member'} of a workspace with a pattern that matches the repository`
    case 'adminKey':
      return 'whoever has an admin key'
    case 'billingSignature':
      return 'the billing provider'
  }
}

/** A paragraph for the description of an operation. */
export const whoMayCall = ({ config }: RouteOptions): string => {
  if (!config?.access) return ''
  const who = `**Who:** ${callersOf(config.access)}.`
  return config.pro ? `${who} Needs Pro once billing is no longer dormant.` : who
}
