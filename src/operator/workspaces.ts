/** The operator's commands for workspaces. */
import { limits, type WorkspaceQuota } from '../../schemas/limits.js'
import type { User } from '../features/accounts/queries/users.js'
import { listKeys } from '../features/keys/index.js'
import { countRowsOfWorkspace } from '../features/personal-data/queries/row-counts.js'
import { readStorage } from '../features/settings/queries/storage-quota.js'
import { makeAdmin } from '../features/workspaces/change-members.js'
import { deleteWorkspaceAsOperator } from '../features/workspaces/lifecycle.js'
import {
  listAllWorkspaces,
  readWorkspaceFacts,
  type WorkspaceFacts,
} from '../features/workspaces/queries/all-workspaces.js'
import { listMembers } from '../features/workspaces/queries/members.js'
import type { Database } from '../platform/database/client.js'
import { isUuid } from '../platform/http/formats.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { explainFailure, printable } from './explain-failure.js'

const MEMBERS_PER_PAGE = 500

const missing = (id: string) => new OperatorError(`There is no workspace ${printable(id)}.`)

/** @throws {OperatorError} */
export const findWorkspace = async ({ read }: Database, given: string): Promise<WorkspaceFacts> => {
  const id = given.toLowerCase()
  if (!isUuid(id)) throw new OperatorError(`${printable(given)} isn’t a workspace id.`)
  const found = await readWorkspaceFacts(read, id)
  if (!found) throw missing(id)
  return found
}

const inStorage = (bytes: number): string => {
  const share = ((100 * bytes) / limits.workspace_bytes).toFixed(1)
  return `${share} % of ${limits.workspace_bytes / 2 ** 20} MiB used`
}

const headOf = ({ id, name, personal, members, admins }: WorkspaceFacts, bytes: number): string => {
  const people = personal
    ? 'personal'
    : `${members} ${members === 1 ? 'member' : 'members'}, ${admins || 'no'} active ${admins === 1 ? 'admin' : 'admins'}`
  return `${id}  ${printable(name)}, ${people}, ${inStorage(bytes)}`
}

/** A line for each workspace, oldest first. @param search part of the name or of a pattern; empty: all */
export async function* describeWorkspaces({ read }: Database, search: string): AsyncGenerator<string> {
  let after: string | undefined
  for (;;) {
    const page = await listAllWorkspaces(read, search, after)
    if (page.length === 0) return
    const ids = page.map(({ id }) => id)
    const used = await readStorage(read, ids)
    for (const facts of page) yield headOf(facts, used.get(facts.id) ?? 0)
    after = page.at(-1)?.id
  }
}

/** A workspace and its data, as lines. */
export async function* describeWorkspace({ read }: Database, facts: WorkspaceFacts): AsyncGenerator<string> {
  const { id, createdAt, activityPrivacy, invites } = facts
  const bytes = (await readStorage(read, [id])).get(id) ?? 0
  yield headOf(facts, bytes)
  yield `  created ${createdAt}, privacy level ${activityPrivacy}, ${bytes} bytes of settings`
  yield `  active invites: ${invites}`
  let after: string[] | undefined
  for (;;) {
    const page = await listMembers(read, id, after, MEMBERS_PER_PAGE)
    for (const { userId, member } of page)
      yield `  ${member.role} ${member.login}, id ${userId}, joined ${member.joined_at}`
    const last = page.at(-1)
    if (!last || page.length < MEMBERS_PER_PAGE) break
    after = [last.member.joined_at, last.userId]
  }
  for (const { id: key, name, scopes, created_by, expires_at } of await listKeys(read, { workspaceId: id }))
    yield `  key ${printable(name)} of ${created_by}, ${scopes.join(' ')}, until ${expires_at}, id ${key}`
  for (const { label, rows } of await countRowsOfWorkspace(read, id)) yield `  ${label}: ${rows}`
}

/**
 * Makes an account an admin of the workspace. @returns false if it already was
 * @throws {OperatorError}
 */
export const transferWorkspace = async (
  database: Database,
  { id }: WorkspaceFacts,
  { id: userId, login }: User,
  quota: WorkspaceQuota,
): Promise<boolean> => {
  const outcome = await explainFailure(makeAdmin(database, id, userId, quota))
  if (outcome === 'no workspace') throw missing(id)
  if (outcome === 'personal workspace') throw new OperatorError('A personal workspace can’t be transferred.')
  if (outcome === 'account disabled')
    throw new OperatorError(`The account ${login} is disabled. Enable it first.`)
  return outcome === 'made admin'
}

/** Deletes a workspace as an admin's `DELETE` does. */
export const deleteWorkspace = async (database: Database, { id }: WorkspaceFacts): Promise<void> => {
  if (!(await deleteWorkspaceAsOperator(database, id))) throw missing(id)
}
