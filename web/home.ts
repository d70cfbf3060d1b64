/** Decides which screen opens first, and which one after switching workspaces. */
import type { Me, Workspace } from './me.js'
import { readStored, store } from './storage.js'

const LAST = 'workspace'
const HIDDEN_STEPS = 'first-steps-hidden'
const STAYS = 'joined-workspaces'

/** Remembers the workspace, so that the next visit starts there. */
export const rememberWorkspace = (id: string) => store(LAST, id)

/** Everyone starts with their own activity. */
export const startOf = ({ id }: Pick<Workspace, 'id'>): string => `/w/${id}/me`

/** The last workspace, or else the first one that the person manages. `undefined` if there is none. */
export const homeOf = ({ workspaces }: Pick<Me, 'workspaces'>): Workspace | undefined => {
  const last = readStored(LAST)
  return (
    workspaces.find(({ id }) => id === last) ??
    workspaces.find(({ role, personal }) => role === 'admin' && !personal) ??
    workspaces[0]
  )
}

/** Switching workspaces keeps the kind of screen, if the person has access to it there. */
export const switchTo = (workspace: Workspace, path: string): string => {
  const [, section] = path.match(/^\/w\/[^/]+(?:\/(me|people|repos|settings)\b|$)/) ?? [path, 'me']
  return section === undefined && workspace.role === 'admin'
    ? `/w/${workspace.id}`
    : `/w/${workspace.id}/${section ?? 'me'}`
}

const readList = (name: string): string[] => readStored(name)?.split(' ') ?? []
const hiddenSteps = (): string[] => readList(HIDDEN_STEPS)

/** Whether an organization has made the person a member and they haven't yet chosen to stay. */
export const isNewlyJoined = ({ id, joined_by }: Workspace): boolean =>
  joined_by === 'organization' && !readList(STAYS).includes(id)

export const rememberStay = (id: string) => store(STAYS, [...readList(STAYS), id].join(' '))

/** Whether an admin's workspace has first steps left. Only the first call's response matters, so it's known at once. */
export const hasStepsLeft = ({ id, role, personal, patterns, member_count }: Workspace): boolean =>
  role === 'admin' && !personal && (patterns.length === 0 || member_count < 2) && !hiddenSteps().includes(id)

/** A young workspace keeps its first steps until an editor has connected or the admin hides them. */
export const isBeginning = ({ id, role, personal, created_at }: Workspace): boolean =>
  role === 'admin' &&
  !personal &&
  Date.parse(created_at) > Date.now() - YOUNG_DAYS * 86_400_000 &&
  !hiddenSteps().includes(id)

const YOUNG_DAYS = 30

export const hideSteps = (id: string) => store(HIDDEN_STEPS, [...hiddenSteps(), id].join(' '))
