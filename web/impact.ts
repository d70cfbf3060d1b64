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
  const known = projects.filter(({ workspace_id }) => workspace_id === workspace.id).length
  return {
    /** The overrides, once the repositories are known too. */
    response: first.data ? response : { ...first, data: undefined },
    overridesOf: hidingFor,
    known,
    atLeast: isComplete ? '' : 'at least ',
    /** The repositories and people, once they are known. */
    reach: (keys: string[], locked: string[]): string | undefined => {
      if (!first.data || !response.data) return undefined
      const who = workspace.member_count === 1 ? 'you' : people(workspace.member_count)
      if (known === 0) return `Applies to ${who}, and to each repository once someone works in it.`
      const hiding = new Set(keys.filter((key) => !locked.includes(key)).flatMap(hidingFor)).size
      const more = isComplete ? '' : 'at least '
      const repositories = `${more}${count(known)} ${known === 1 ? 'repository' : 'repositories'}`
      const atLeast = response.data.next_cursor === null ? '' : 'at least '
      const hidden = hiding > 0 ? `; ${atLeast}${replacedBy(hiding)} a changed key` : ''
      return `Applies to ${who} in ${repositories}${hidden}.`
    },
    /** The overrides that set a key. `isNew`: the lock isn't saved yet. */
    about: (key: string, isLocked: boolean, isNew = false): string | undefined => {
      const repos = hidingFor(key).map(({ owner, repo }) => `${owner}/${repo}`)
      if (repos.length === 0) return isLocked ? 'Locked in every repository.' : undefined
      const names = `${repos.slice(0, NAMED).join(', ')}${repos.length > NAMED ? `, and ${repos.length - NAMED} more` : ''}`
      if (!isLocked) return `${replacedBy(repos.length)} it: ${names}`
      const [what, does] = repos.length === 1 ? ['override', 'doesn’t'] : ['overrides', 'don’t']
      return `${names}’s ${what} of it ${isNew ? 'will stop applying' : `${does} apply`}.`
    },
  }
}

const replacedBy = (number: number) =>
  number === 1 ? '1 override replaces' : `${count(number)} overrides replace`
