/** Every table of the service. No table refers to a later one. */
import './accounts/tables.js'
import './workspaces/tables.js'
import './settings/tables.js'
import './minutes/tables.js'
import './counts/tables.js'
import './rollups/tables.js'
import './dashboard/tables.js'
import './editors/tables.js'
import './billing/tables.js'
import './funnel/tables.js'
import '../platform/database/tables.js'

export { declaredTables as tables, peopleColumns } from '../platform/database/table.js'
