/**
 * A stand-in for the billing provider, for tests and the demo: the calls of Stripe's API that the service makes, as
 * strict as the real one (keys, form bodies, required parameters, known customers and prices, idempotency keys), and
 * signed notifications. Opening a checkout's URL pays at once.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody, type StandIn, sendJson, serveStandIn } from './stand-in.js'

export const BILLING = {
  secretKey: 'sk_test_stand_in',
  webhookSecret: 'whsec_stand_in',
  priceMonth: 'price_month',
  priceYear: 'price_year',
}

export interface BillingProviderStandIn extends StandIn {
  /** The customers made so far, with the form that each was made from. */
  customers: Map<string, URLSearchParams>
  /** The forms of the checkouts started so far. */
  checkouts: Map<string, URLSearchParams>
  /** Where paid checkouts are reported. Undefined: nowhere. */
  webhookUrl: string | undefined
  /** Delays every response by this many milliseconds, so that calls overlap. */
  delay: number
}

/** The header that the provider signs a payload with. */
export const signatureOf = (
  payload: string,
  { secret = BILLING.webhookSecret, time = Math.floor(Date.now() / 1_000) } = {},
): string => `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${payload}`).digest('hex')}`

type Outcome = [status: number, body: Record<string, unknown>]

const errorResponse = (status: number, type: string, message: string): Outcome => [
  status,
  { error: { type, message } },
]
const invalidRequest = (message: string) => errorResponse(400, 'invalid_request_error', message)

const required: Record<string, string[]> = {
  '/v1/customers': [],
  '/v1/checkout/sessions': [
    'mode',
    'customer',
    'line_items[0][price]',
    'line_items[0][quantity]',
    'success_url',
  ],
  '/v1/billing_portal/sessions': ['customer'],
}

export const startBillingProvider = async (): Promise<BillingProviderStandIn> => {
  const customers = new Map<string, URLSearchParams>()
  const checkouts = new Map<string, URLSearchParams>()
  const performed = new Map<string, { form: string; outcome: Outcome | undefined }>()
  const newId = (prefix: string) => `${prefix}_${randomBytes(10).toString('hex')}`

  const perform = (path: string, form: URLSearchParams): Outcome => {
    const missing = required[path]?.find((name) => !form.get(name))
    if (missing) return invalidRequest(`Missing required param: ${missing}.`)
    const customer = form.get('customer')
    if (customer !== null && !customers.has(customer))
      return invalidRequest(`No such customer: '${customer}'`)
    if (path === '/v1/customers') {
      const id = newId('cus')
      customers.set(id, form)
      return [200, { id, object: 'customer', metadata: { user_id: form.get('metadata[user_id]') } }]
    }
    if (path === '/v1/billing_portal/sessions') {
      const id = newId('bps')
      return [200, { id, object: 'billing_portal.session', url: `${standIn.url}/portal/${id}` }]
    }
    const price = form.get('line_items[0][price]') ?? ''
    if (![BILLING.priceMonth, BILLING.priceYear].includes(price))
      return invalidRequest(`No such price: '${price}'`)
    const id = newId('cs')
    checkouts.set(id, form)
    return [200, { id, object: 'checkout.session', url: `${standIn.url}/pay/${id}` }]
  }

  /** Repeats the outcome for the same idempotency key. A key belongs to one request's parameters. */
  const once = async (key: string | undefined, path: string, body: string): Promise<Outcome> => {
    const form = `${path}?${body}`
    const known = key === undefined ? undefined : performed.get(key)
    if (known && known.form !== form) {
      return errorResponse(
        400,
        'idempotency_error',
        'Keys for idempotent requests can only be used with the same parameters.',
      )
    }
    if (known)
      return (
        known.outcome ?? errorResponse(409, 'idempotency_error', 'There is another request with this key.')
      )
    const performing: { form: string; outcome: Outcome | undefined } = { form, outcome: undefined }
    if (key !== undefined) performed.set(key, performing)
    await new Promise((resolve) => setTimeout(resolve, standIn.delay))
    performing.outcome = perform(path, new URLSearchParams(body))
    return performing.outcome
  }

  const api = async (request: IncomingMessage, path: string): Promise<Outcome> => {
    const body = await readBody(request)
    if (request.headers.authorization !== `Bearer ${BILLING.secretKey}`) {
      return errorResponse(
        401,
        'invalid_request_error',
        `Invalid API Key provided: ${request.headers.authorization}`,
      )
    }
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded') {
      return invalidRequest('Send the parameters as a form.')
    }
    return once(request.headers['idempotency-key'] as string | undefined, path, body)
  }

  /** Does what the provider's page does after a payment. */
  const pay = async (id: string, response: ServerResponse) => {
    const form = checkouts.get(id)
    if (!form) return sendJson(response, 404, { error: { type: 'invalid_request_error' } })
    const customer = form.get('customer')
    const subscription = {
      id: newId('sub'),
      object: 'subscription',
      customer,
      status: 'active',
      metadata: { user_id: form.get('subscription_data[metadata][user_id]') },
    }
    const session = {
      id,
      object: 'checkout.session',
      customer,
      client_reference_id: form.get('client_reference_id'),
    }
    await notify('customer.subscription.created', subscription)
    await notify('checkout.session.completed', session)
    response.writeHead(303, { Location: form.get('success_url') ?? '/' }).end()
  }

  const notify = async (type: string, object: object) => {
    if (standIn.webhookUrl === undefined) return
    const created = Math.floor(Date.now() / 1_000)
    const payload = JSON.stringify({ id: newId('evt'), object: 'event', type, created, data: { object } })
    await fetch(standIn.webhookUrl, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Stripe-Signature': signatureOf(payload),
      },
      body: payload,
    })
  }

  const server = await serveStandIn(async (request, response, { pathname }) => {
    if (request.method === 'POST' && Object.hasOwn(required, pathname)) {
      return sendJson(response, ...(await api(request, pathname)))
    }
    const [, kind, id] = pathname.split('/')
    if (request.method === 'GET' && kind === 'pay' && id) return pay(id, response)
    if (request.method === 'GET' && kind === 'portal')
      return sendJson(response, 200, { page: 'the customer portal' })
    sendJson(response, 404, { error: { type: 'invalid_request_error', message: 'Unrecognized request URL' } })
  })
  const standIn: BillingProviderStandIn = Object.assign(server, {
    customers,
    checkouts,
    webhookUrl: undefined,
    delay: 0,
  })
  return standIn
}
