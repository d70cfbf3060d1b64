/** The repositories and people affected by a change to the workspace settings, as far as they're loaded. */
import { lockedKeysIn, locksOf } from '../schemas/settings-keys.js'
import { useRead } from './api.js'
import { count, people } from './format.js'
import { useWorkspace } from './me.js'
import { useProjects } from './projects.js'

const NAMED = 3

export const useImpact = (isWanted: boolean) => {
  const workspace = useWorkspace()
  const { response: first, projects, isComplete } = useProjects(isWanted)
  const response = useRead(
    'GET /api/team/workspaces/{id}/project-settings',
    isWanted ? { path: { id: workspace.id }, query: { limit: 500 } } : undefined,
  )
  const overrides = response.data?.overrides ?? []
  /** Includes overrides that set the key in a language block, or a block for one of its languages. */
  const hidingFor = (key: string) => {
    const one = locksOf([key])
    return overrides.filter(({ settings }) => lockedKeysIn(one, settings).length > 0)
  }
  return {
    /** The repositories and people, once they are known. */
    reach: (keys: string[], locked: string[]): string | undefined => {
      if (!first.data || !response.data) return undefined
      const known = projects.filter(({ workspace_id }) => workspace_id === workspace.id).length
      const hiding = new Set(keys.filter((key) => !locked.includes(key)).flatMap(hidingFor)).size
      const more = isComplete ? '' : 'at least '
      const repositories = `${more}${count(known)} known ${known === 1 ? 'repository' : 'repositories'}`
      const atLeast = response.data.next_cursor === null ? '' : 'at least '
      const hidden = hiding > 0 ? `; ${atLeast}${overrideCount(hiding)} a changed key` : ''
      return `Affects ${repositories} and ${people(workspace.member_count)}${hidden}.`
    },
    /** The overrides that set a key. */
    about: (key: string, isLocked: boolean): string | undefined => {
      const repos = hidingFor(key).map(({ owner, repo }) => `${owner}/${repo}`)
      if (repos.length === 0) return isLocked ? 'Locked in every repository.' : undefined
      const names = `${repos.slice(0, NAMED).join(', ')}${repos.length > NAMED ? ', …' : ''}`
      return isLocked
        ? `Locked in every repository. ${overridesOf(repos.length)} for it ${repos.length === 1 ? 'has' : 'have'} no effect: ${names}`
        : `${overrideCount(repos.length)} it: ${names}`
    },
  }
}

const overridesOf = (number: number) => (number === 1 ? '1 override' : `${count(number)} overrides`)
const overrideCount = (number: number) => `${overridesOf(number)} ${number === 1 ? 'hides' : 'hide'}`
