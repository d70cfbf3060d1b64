/** Where people work: which screen opens first, and which one after a switch of workspaces. */
import type { Me, Workspace } from './me.js'

const NAME = 'workspace'

/** Remembers the workspace, so that the next visit starts there. */
export const rememberWorkspace = (id: string) => {
  try {
    localStorage.setItem(NAME, id)
  } catch {
    // The browser may block storage. The next visit then starts in the first workspace.
  }
}

const remembered = (): string | null => {
  try {
    return localStorage.getItem(NAME)
  } catch {
    return null
  }
}

/** Admins start with their team, members with their own activity. */
export const startOf = ({ id, role, personal }: Pick<Workspace, 'id' | 'role' | 'personal'>): string =>
  role === 'admin' && !personal ? `/w/${id}` : `/w/${id}/me`

/** The last workspace, otherwise the first one that the person manages. `undefined` without any. */
export const homeOf = ({ workspaces }: Pick<Me, 'workspaces'>): Workspace | undefined => {
  const last = remembered()
  return (
    workspaces.find(({ id }) => id === last) ??
    workspaces.find(({ role, personal }) => role === 'admin' && !personal) ??
    workspaces[0]
  )
}

/** A switch of workspaces keeps the kind of screen where every member has it. */
export const switchTo = (workspace: Workspace, path: string): string => {
  const [, section] = path.match(/^\/w\/[^/]+\/(me|people|repos|settings)\b/) ?? []
  return section ? `/w/${workspace.id}/${section}` : startOf(workspace)
}
