/** What billing leaves to housekeeping. */
import { type Chore, deletion } from '../../platform/process/housekeeping.js'
import { deleteOldBillingEvents } from './queries.js'

export const billingChores: Chore[] = [deletion('old billing events', deleteOldBillingEvents)]
