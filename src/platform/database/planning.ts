import { statement } from './statement.js'

/** Has PostgreSQL plan each of the transaction's statements for its parameters. */
export const FORCE_CUSTOM_PLAN = statement(
  'force custom plan',
  {},
  'set local plan_cache_mode = force_custom_plan',
)
