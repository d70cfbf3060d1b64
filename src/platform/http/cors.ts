/** Answers preflights; the CORS headers of all other responses are set in `headers.ts`. */
import cors from '@fastify/cors'
import fp from 'fastify-plugin'
import { EDITORS } from './editor-addresses.js'
import { isKnownOrigin } from './headers.js'

const headers = ['Authorization', 'Content-Type', 'X-Repohost-Token', 'Billing-Signature']

/** WakaTime's tools in browsers also send these. */
const editorHeaders = [...headers, 'X-Machine-Name', 'Timezone']

const preflight = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  maxAge: 600,
  strictPreflight: false,
}

export default fp(async (app) => {
  const isKnown = isKnownOrigin(app.config)
  // Uses a separate scope, so that the library runs only here.
  await app.register(async (scope) => {
    await scope.register(cors, {
      delegator: ({ url, headers: { origin } }, callback) => {
        const allowed = isKnown(origin) ? origin : '*'
        const allowedHeaders = url.startsWith(EDITORS) ? editorHeaders : headers
        callback(null, { ...preflight, allowedHeaders, origin: allowed, credentials: allowed !== '*' })
      },
    })
  })
})
