/** The billing provider, through Stripe's own library: customers, checkouts and the customer portal. */
import type { Stripe } from 'stripe'
import { ApiError } from '../../errors.js'
import type { Trace } from '../../platform/http/trace.js'
import { boundedFetch, measured, tracing } from '../../platform/http/upstream.js'
import { type Meter, noopMeter } from '../../platform/metrics/meter.js'

export interface BillingProvider {
  /** Creates a customer. Calls within a few minutes return the same one. @returns its id. @throws {ApiError} */
  createCustomer(user: { id: string; login: string }, trace?: Trace): Promise<string>
  /** @returns the URL of a page where the customer subscribes. @throws {ApiError} */
  createCheckout(checkout: Checkout, trace?: Trace): Promise<string>
  /** @returns the URL of a page where the customer manages their subscriptions. @throws {ApiError} */
  createPortal(customerId: string, returnUrl: string, trace?: Trace): Promise<string>
}

export interface Checkout {
  customerId: string
  userId: string
  priceId: string
  successUrl: string
  cancelUrl: string
}

/** The time budget for a call and its retry. A click makes at most two calls. */
const BUDGET_MS = 4_500
const RETRIES = 1
/**
 * The provider repeats its first response to an idempotency key for a day, even a failure, so keys change more often.
 */
const KEY_MS = 10 * 60_000

export const createBillingProvider = (
  { secretKey, apiUrl }: { secretKey: string; apiUrl: string | undefined },
  { budgetMs = BUDGET_MS, meter = noopMeter }: { budgetMs?: number; meter?: Meter } = {},
): BillingProvider => {
  // Loaded only if billing is configured, because it has hundreds of modules.
  const library = import('stripe')
  /** Keeps a call within the budget, because the library's own timeout restarts with each attempt. */
  const call = async <T>(trace: Trace | undefined, work: (stripe: Stripe) => Promise<T>): Promise<T> => {
    const { Stripe } = await library
    const budget = AbortSignal.timeout(budgetMs)
    const send = async (url: string, init: RequestInit): Promise<Response> => {
      const { pathname, search } = new URL(url)
      const signal = init.signal ? AbortSignal.any([init.signal, budget]) : budget
      const headers = new Headers(init.headers)
      for (const [name, value] of Object.entries(tracing(trace))) headers.set(name, value)
      const response = await measured(meter, 'billing-provider', signal, () =>
        boundedFetch(apiUrl ? `${apiUrl}${pathname}${search}` : url, { ...init, headers, signal }),
      )
      // The library treats any JSON without `error` as a success.
      if (response.status >= 300 && response.status < 400) throw new Error('The provider sent a redirect')
      return response
    }
    const stripe = new Stripe(secretKey, {
      httpClient: Stripe.createFetchHttpClient(send as typeof fetch),
      timeout: budgetMs,
      maxNetworkRetries: RETRIES,
      telemetry: false,
    })
    try {
      return await work(stripe)
    } catch (error) {
      throw translate(error, budget.aborted)
    }
  }

  return {
    createCustomer: ({ id, login }, trace) =>
      call(trace, async (stripe) => {
        // The key is tied to these parameters. The provider rejects it with any others.
        const idempotencyKey = `customer-${id}-${login}-${Math.floor(Date.now() / KEY_MS)}`
        const customer = await stripe.customers.create(
          { name: login, metadata: { user_id: id } },
          { idempotencyKey },
        )
        return expectText(customer.id)
      }),
    createCheckout: ({ customerId, userId, priceId, successUrl, cancelUrl }, trace) =>
      call(trace, async (stripe) => {
        const session = await stripe.checkout.sessions.create({
          mode: 'subscription',
          customer: customerId,
          client_reference_id: userId,
          line_items: [{ price: priceId, quantity: 1 }],
          subscription_data: { metadata: { user_id: userId } },
          success_url: successUrl,
          cancel_url: cancelUrl,
        })
        return expectText(session.url)
      }),
    createPortal: (customerId, returnUrl, trace) =>
      call(trace, async (stripe) => {
        const session = await stripe.billingPortal.sessions.create({
          customer: customerId,
          return_url: returnUrl,
        })
        return expectText(session.url)
      }),
  }
}

const expectText = (value: unknown): string => {
  if (typeof value !== 'string' || value === '') throw new Error('The provider left out what was asked for')
  return value
}

/** Keeps only the kind of failure, because the provider's message may quote the request. */
const translate = (error: unknown, timedOut: boolean): ApiError => {
  const { type, code, statusCode, requestId, detail } = error as Partial<Stripe.errors.StripeError>
  const outOfTime = timedOut || (detail as { code?: string } | undefined)?.code === 'ETIMEDOUT'
  const kind = [type ?? (error as Error).name, statusCode, code, requestId].filter(Boolean).join(' ')
  return new ApiError(outOfTime ? 'upstream_timeout' : 'upstream_failed', {
    upstream: 'billing-provider',
    cause: new Error(kind),
  })
}
