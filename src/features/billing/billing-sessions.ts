import type { BillingInterval } from '../../../schemas/billing.js'
import type { Config } from '../../config.js'
import { ApiError } from '../../errors.js'
import type { Database } from '../../platform/database/client.js'
import type { Trace } from '../../platform/http/trace.js'
import { readCaller } from '../accounts/index.js'
import type { BillingProvider } from './billing-provider.js'
import { includesPro } from './policies.js'
import { linkCustomer, readCustomer, readSubscriptionStatus } from './queries.js'

const priceOf = ({ billing }: Config, interval: BillingInterval | undefined): string | undefined => {
  const prices = { month: billing.priceMonth, year: billing.priceYear }
  return interval === undefined ? (prices.month ?? prices.year) : prices[interval]
}

/**
 * A user's clicks on this instance share one call. Across instances, the provider's idempotency key and the first
 * link in the database have the same effect.
 */
const sharePerUser = <T>(work: (userId: string, trace: Trace) => Promise<T>) => {
  const underWay = new Map<string, Promise<T>>()
  return (userId: string, trace: Trace): Promise<T> => {
    const shared = underWay.get(userId) ?? work(userId, trace).finally(() => underWay.delete(userId))
    underWay.set(userId, shared)
    return shared
  }
}

/** Sessions at the billing provider: its pages for a checkout and for managing a subscription. */
export const createBillingSessions = (
  config: Config,
  database: Database,
  configuredProvider: BillingProvider | undefined,
) => {
  const db = database.read
  const provider = () => {
    if (!configuredProvider) throw new ApiError('billing_not_configured')
    return configuredProvider
  }

  const customerOf = sharePerUser(async (userId, trace) => {
    const known = await readCustomer(db, userId)
    if (known !== undefined) return known
    const user = await readCaller(db, userId)
    await linkCustomer(database.write, await provider().createCustomer(user, trace), userId)
    const linked = await readCustomer(db, userId)
    if (linked === undefined) {
      const cause = new Error("The provider returned another person's customer")
      throw new ApiError('upstream_failed', { upstream: 'billing-provider', cause })
    }
    return linked
  })

  const portal = async (customerId: string, trace: Trace) =>
    provider().createPortal(customerId, `${config.homeUrl}/`, trace)

  return {
    /**
     * Subscribers are sent to the portal, so that no one pays twice.
     * @throws {ApiError} `billing_not_configured`, also when the interval has no price; `upstream_*`
     */
    startCheckout: async (
      userId: string,
      interval: BillingInterval | undefined,
      trace: Trace,
    ): Promise<string> => {
      const priceId = priceOf(config, interval)
      if (priceId === undefined) throw new ApiError('billing_not_configured')
      const customerId = await customerOf(userId, trace)
      if (includesPro(await readSubscriptionStatus(db, userId))) return portal(customerId, trace)
      const checkout = {
        customerId,
        userId,
        priceId,
        successUrl: `${config.homeUrl}/?billing=success`,
        cancelUrl: `${config.homeUrl}/?billing=canceled`,
      }
      return provider().createCheckout(checkout, trace)
    },

    /** @throws {ApiError} `no_subscription`, `billing_not_configured`, `upstream_*` */
    openPortal: async (userId: string, trace: Trace): Promise<string> => {
      provider()
      const customerId = await readCustomer(db, userId)
      if (customerId === undefined) throw new ApiError('no_subscription')
      return portal(customerId, trace)
    },
  }
}
