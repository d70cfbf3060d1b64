import { index, text } from 'drizzle-orm/pg-core'
import { moment, table } from '../../platform/database/table.js'

/** OAuth logins in progress. The callback deletes the row it uses, so a state works only once on any instance. */
export const oauthStates = table(
  'oauth_states',
  {
    stateHash: text('state_hash').primaryKey(),
    returnTo: text('return_to').notNull(),
    expiresAt: moment('expires_at').notNull(),
  },
  {
    expiry: { task: 'expired logins', sql: 'expires_at < now()' },
    place: 'coordinator',
    privacyRecord: null,
  },
  (t) => [index('oauth_states_by_age').on(t.expiresAt)],
)
