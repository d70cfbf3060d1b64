/** The repositories and people affected by a change to the workspace settings, as far as they're loaded. */
import { isBlock, isLocked, lockedKeysIn, locksOf, settingsIn } from '../schemas/settings-keys.js'
import { useRead } from './api.js'
import { count, people } from './format.js'
import type { Values } from './json.js'
import { useWorkspace } from './me.js'
import { useProjects } from './projects.js'

const NAMED = 3

/** A key's values in an override, also those in language blocks: `4` or `[python] 4`. */
export const valuesOf = (settings: Values, name: string): string[] => {
  const locks = locksOf([name])
  return [...settingsIn(settings)]
    .filter(({ block, key }) => isLocked(locks, key) && (block === undefined || !isBlock(name)))
    .map(({ block, key, value }) =>
      `${block ?? (key === name ? '' : key)} ${value === null ? 'doesn’t apply here' : JSON.stringify(value)}`.trim(),
    )
}

interface Rules {
  locked: readonly string[]
  merged: readonly string[]
}

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
    reach: (keys: string[], { locked, merged }: Rules): string | undefined => {
      if (!first.data || !response.data) return undefined
      const who = workspace.member_count === 1 ? 'you' : people(workspace.member_count)
      if (known === 0) return `Applies to ${who}, and to each repository once someone works in it.`
      const open = keys.filter((key) => !locked.includes(key))
      const setting = (some: string[]) => new Set(some.flatMap(hidingFor)).size
      const replacing = setting(open.filter((key) => !merged.includes(key)))
      const adding = setting(open.filter((key) => merged.includes(key)))
      const more = isComplete ? '' : 'at least '
      const repositories = `${more}${count(known)} ${known === 1 ? 'repository' : 'repositories'}`
      const atLeast = response.data.next_cursor === null ? '' : 'at least '
      const effects = [
        replacing > 0 && `; ${atLeast}${overridesThat(replacing, 'replace')} a changed key`,
        adding > 0 && `; ${atLeast}${overridesThat(adding, 'add')} to a changed key`,
      ].filter(Boolean)
      return `Applies to ${who} in ${repositories}${effects.join('')}.`
    },
    /** The overrides that set a key. `isNew`: the lock isn't saved yet. */
    about: (key: string, { locked, merged }: Rules, isNew = false) => {
      const setBy = hidingFor(key)
      const repos = setBy.map(({ owner, repo }) => `${owner}/${repo}`)
      const isLocked = locked.includes(key)
      if (repos.length === 0) return isLocked ? 'Locked in every repository.' : undefined
      const names = `${repos.slice(0, NAMED).join(', ')}${repos.length > NAMED ? `, and ${repos.length - NAMED} more` : ''}`
      const effect = merged.includes(key)
        ? `${overridesThat(repos.length, 'add')} to it`
        : `${overridesThat(repos.length, 'replace')} it`
      if (!isLocked)
        return (
          <details>
            <summary>
              {effect}: <bdi>{names}</bdi>
            </summary>
            <ul>
              {setBy.map(({ owner, repo, settings }) => (
                <li key={`${owner}/${repo}`}>
                  <bdi>
                    {owner}/{repo}
                  </bdi>
                  : <span class="mono">{valuesOf(settings, key).join(', ')}</span>
                </li>
              ))}
            </ul>
          </details>
        )
      const [what, does] = repos.length === 1 ? ['override', 'doesn’t'] : ['overrides', 'don’t']
      return `${names}’s ${what} of it ${isNew ? 'will stop applying' : `${does} apply`}.`
    },
  }
}

const overridesThat = (number: number, verb: string) =>
  number === 1 ? `1 override ${verb}s` : `${count(number)} overrides ${verb}`
