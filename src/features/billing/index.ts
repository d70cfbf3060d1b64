/** Plans and subscriptions, for other features. */
export { includesPro, planOf } from './policies.js'
export { readSubscriptionStatus, unlinkCustomers } from './queries.js'
