/** What accounts leave to housekeeping. */
import { type Chore, deletion } from '../../platform/process/housekeeping.js'
import { deleteExpiredLogins, deleteExpiredRevocations } from './queries/sessions.js'

export const accountChores: Chore[] = [
  deletion('expired revocations', deleteExpiredRevocations),
  deletion('expired logins', deleteExpiredLogins),
]
