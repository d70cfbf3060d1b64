/** Undoing a change that was just saved. */

import type { AnswerOf, RequestOptions } from '../client/src/operations.js'
import { call, type Failure, refresh } from './api.js'
import { patchOf } from './json.js'
import { toast } from './toast.js'

const CHANGED_MEANWHILE: Failure = {
  title: 'This was changed in the meantime',
  advice: 'Nothing was undone. Check the current value.',
  code: 'changed_meanwhile',
  status: 0,
  requestId: undefined,
  canRetry: false,
  isEnd: false,
  retryAfter: undefined,
  problem: {},
}

/** Keeps an undo from overwriting later changes by others. @throws {Failure} */
export const requireUnchanged = (isUnchanged: boolean) => {
  if (!isUnchanged) throw CHANGED_MEANWHILE
}

/** An undo with the ETag of one's own change. */
export const undoing = (write: () => Promise<unknown>) => async () => {
  try {
    await write()
  } catch (error) {
    requireUnchanged((error as Failure).code !== 'version_conflict')
    throw error
  } finally {
    refresh()
  }
}

type State = AnswerOf<'GET /api/team/workspaces/{id}/settings'>
type Changes = RequestOptions<'PATCH /api/team/workspaces/{id}/settings'>['body']

/** Changes the workspace settings, and offers to undo it. @throws {Failure} */
export const saveSettings = async (id: string, before: State, etag: string | undefined, changes: Changes) => {
  const write = (body: Changes, etag: string | undefined) =>
    call('PATCH /api/team/workspaces/{id}/settings', { path: { id }, body, headers: { 'If-Match': etag } })
  const saved = await write(changes, etag)
  const { settings, locked, merged, idle_window_minutes } = before
  const back = { settings: patchOf(saved.data.settings, settings), locked, merged, idle_window_minutes }
  toast(
    'Settings saved',
    undoing(() => write(back, saved.etag)),
  )
  return saved
}
