/** The repositories known to the service: those with activity, pushed settings or an override. */
import { useEffect } from 'preact/hooks'
import type { AnswerOf } from '../client/src/operations.js'
import { call, usePages, useRead } from './api.js'

const PAGE = 500
/** How many pages load without a click. A list has a button for more. */
const MAX_PAGES = 10

type Project = AnswerOf<'GET /api/projects'>['projects'][number]

export const nameOf = ({ owner, repo }: Pick<Project, 'owner' | 'repo'>): string => `${owner}/${repo}`

/** The repositories of all the caller's workspaces. Nothing is fetched unless `isWanted`. */
export const useProjects = (isWanted = true) => {
  const response = useRead('GET /api/projects', isWanted ? { query: { limit: PAGE } } : undefined)
  const { pages, more, busy, failure } = usePages(response, (cursor) =>
    call('GET /api/projects', { query: { limit: PAGE, cursor } }),
  )
  const isLoadingMore = more !== undefined && !failure && pages.length < MAX_PAGES
  useEffect(() => {
    if (isLoadingMore && !busy) more()
  }, [isLoadingMore, busy, pages.length])
  return {
    response,
    projects: pages.flatMap(({ projects }) => projects),
    /** Whether the list is complete. */
    isComplete: response.data !== undefined && more === undefined,
    isLoading: (isWanted && !response.data && !response.failure) || isLoadingMore,
    more: isLoadingMore ? undefined : more,
    busy,
    failure,
  }
}
