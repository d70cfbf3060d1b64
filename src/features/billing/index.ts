/** What other features may use of plans and subscriptions. */
export { givesPro, planOf } from './policies.js'
export { readSubscriptionStatus, unlinkCustomers } from './queries.js'
