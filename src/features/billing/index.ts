/** Plans and subscriptions, for other features. */
export { givesPro, planOf } from './policies.js'
export { readSubscriptionStatus, unlinkCustomers } from './queries.js'
