/** The signed-in person, and the workspace in the address. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AnswerOf } from '../client/src/operations.js'

export type Me = AnswerOf<'GET /api/team/me'>
export type Workspace = Me['workspaces'][number]

/** `again` fetches it again after a change. */
export const MeContext = createContext<Me & { again: () => void }>(null as never)
export const WorkspaceContext = createContext<Workspace>(null as never)

export const useMe = () => useContext(MeContext)
export const useWorkspace = () => useContext(WorkspaceContext)
