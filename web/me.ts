/** The signed-in person, and the workspace in the address. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AnswerOf } from '../client/src/operations.js'
import { call } from './api.js'

export type Me = AnswerOf<'GET /api/team/me'>
export type Workspace = Me['workspaces'][number]

/** `again` fetches it again after a change. */
export const MeContext = createContext<Me & { again: () => void }>(null as never)
export const WorkspaceContext = createContext<Workspace>(null as never)

export const useMe = () => useContext(MeContext)
export const useWorkspace = () => useContext(WorkspaceContext)

/** A workspace as it is now. `undefined` if the person no longer has it. @throws {Failure} */
export const readWorkspace = async (workspaceId: string): Promise<Workspace | undefined> => {
  const { data } = await call('GET /api/team/me', {})
  return data.workspaces.find(({ id }) => id === workspaceId)
}
