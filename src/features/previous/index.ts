/** Tables of version 1.0.0, for the erasure. */

export {
  previousActivity,
  previousMemberDays,
  previousMemberMonths,
  previousRepoPeople,
} from './tables.js'
