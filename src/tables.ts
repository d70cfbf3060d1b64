/** Every table of the service. None refers to a later one. */
import './features/accounts/tables.js'
import './features/workspaces/tables.js'
import './features/settings/tables.js'
import './features/activity/tables.js'
import './features/editors/tables.js'
import './features/billing/tables.js'
import './features/funnel/tables.js'
import './features/personal-data/tables.js'
import './operator/backup/tables.js'

export { declaredTables as tables, peopleColumns } from './platform/database/table.js'
