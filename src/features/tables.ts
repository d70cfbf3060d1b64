/** Every table of the service. No table refers to a later one. */
import './accounts/tables.js'
import './sessions/tables.js'
import './sign-in/tables.js'
import './keys/tables.js'
import './named-repos/tables.js'
import './recording/tables.js'
import './workspaces/tables.js'
import './settings/tables.js'
import './own-time/tables.js'
import './minutes/tables.js'
import './previous/tables.js'
import './counts/tables.js'
import './rollups/tables.js'
import './dashboard/tables.js'
import './editors/tables.js'
import './billing/tables.js'
import './funnel/tables.js'
import '../platform/database/tables.js'

import { declaredTables, listPeopleColumns } from '../platform/database/table.js'

// Defined here rather than re-exported, so that even in a bundle, modules that use them run after all imports above.
export const tables = declaredTables
export const peopleColumns = listPeopleColumns
