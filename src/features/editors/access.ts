/** Access to the routes for editors: a session or access key, sent the way WakaTime tools do. */
import { ApiError } from '../../errors.js'
import { type Access, anyPersonWith } from '../../platform/access/access.js'
import { readCaller } from '../accounts/index.js'
import { editorTokenOf } from '../sessions/index.js'

const ofEditor = (...scopes: Parameters<typeof anyPersonWith>): Access => ({
  ...anyPersonWith(...scopes),
  tokenOf: editorTokenOf,
  errors: ['route_not_found'],
  find: async (request) => {
    const { user } = request.params as { user?: string }
    if (user === undefined || user === 'current') return
    const { login } = await readCaller(request.server.database.hot, request.caller.userId)
    if (user.toLowerCase() !== login.toLowerCase()) throw new ApiError('route_not_found')
  },
})

/** Callers who can send heartbeats. */
export const writingEditor = ofEditor('activity:write')
/** Callers who can read what editors show. */
export const readingEditor = ofEditor('activity:read', 'activity:write')
/** Callers who can read all of the person's time. */
export const timeReader = ofEditor('activity:read')
