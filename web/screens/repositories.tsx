import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { dividePath, matchesPattern } from '../../client/src/pattern.js'
import { limits } from '../../schemas/limits.js'
import { repoAddress, snapshotAddress } from '../addresses.js'
import { call, requireUnchanged, useAction, usePages, useRead } from '../api.js'
import { count, time } from '../format.js'
import type { Values } from '../json.js'
import { useMe, useWorkspace } from '../me.js'
import { useProjects } from '../projects.js'
import { useUrlQuery } from '../query.js'
import { useTitle } from '../title.js'
import { toast } from '../toast.js'
import { type Column, FailureNote, Form, Loaded, More, RepoName, SortedTable } from '../ui.js'

export const Repositories = () => {
  const workspace = useWorkspace()
  const { query } = useUrlQuery()
  const { route } = useLocation()
  const known = useProjects(query.repo === undefined)
  useTitle(`${workspace.name} repositories`)
  const open = (repo: string, replace = false) => route(repoAddress(workspace.id, dividePath(repo)), replace)
  useEffect(() => {
    // Repositories had their address in the query before they had a page.
    if (query.repo) open(query.repo, true)
  }, [query.repo])
  return (
    <>
      <h1>
        <bdi>{workspace.name}</bdi> repositories
      </h1>
      <div class="two">
        <Known known={known} onOpen={open} />
        <Patterns known={known} />
      </div>
      <Overrides />
    </>
  )
}

type KnownRepos = ReturnType<typeof useProjects>
type Project = KnownRepos['projects'][number]

const nameOf = ({ owner, repo }: Project) => `${owner}/${repo}`

const Known = ({ known, onOpen }: { known: KnownRepos; onOpen: (repo: string) => void }) => {
  const workspace = useWorkspace()
  const { asked, projects, more, busy, failure } = known
  const here = projects.filter(({ workspace_id }) => workspace_id === workspace.id)
  const columns = useMemo<Column<Project>[]>(
    () => [
      {
        name: 'repo',
        title: 'Repository',
        by: nameOf,
        cell: (project) => (
          <span class="row">
            <a href={repoAddress(workspace.id, project)}>
              <RepoName repo={nameOf(project)} />
            </a>
            {project.has_override && <span class="tag">override</span>}
          </span>
        ),
      },
      {
        name: 'activity',
        title: 'Activity',
        room: 'wide',
        by: ({ has_activity }) => Number(has_activity),
        cell: ({ has_activity }) => (has_activity ? 'recorded' : <span class="muted">none</span>),
      },
      {
        name: 'version',
        title: 'Pushed settings',
        by: ({ version }) => version,
        cell: (project) =>
          project.version === null ? (
            <span class="muted">never</span>
          ) : (
            <a href={snapshotAddress(workspace.id, project)}>
              version {project.version}
              {project.version > 1 && ' and older'}
            </a>
          ),
      },
    ],
    [workspace.id],
  )
  return (
    <section class="card stack tight" aria-labelledby="known">
      <div class="row apart">
        <h2 id="known">Known repositories</h2>
        {here.length > 0 && (
          <span class="small muted">
            {known.isComplete ? '' : 'at least '}
            {count(here.length)}
          </span>
        )}
      </div>
      <Loaded asked={asked} height={200}>
        {() => (
          <>
            <SortedTable
              caption="Known repositories"
              rows={here}
              columns={columns}
              keyOf={nameOf}
              searchText={nameOf}
              first="repo"
              ascending
              shown={SHOWN}
              empty={`No known repositories yet. A repository appears with its first activity${workspace.role === 'admin' ? '' : ' of yours'}, pushed settings or override.`}
            />
            <More more={more} busy={busy} failure={failure} />
          </>
        )}
      </Loaded>
      <Form
        class="row low"
        onSubmit={(given) => {
          onOpen(String(given.get('repo')).trim())
        }}
      >
        <label class="field grow">
          Another repository
          <input
            name="repo"
            required
            pattern="[\w.\-]+/[\w.\-]+"
            title="owner/name"
            placeholder="owner/name"
            autocomplete="off"
          />
        </label>
        <button type="submit">Open repository</button>
      </Form>
    </section>
  )
}

const SHOWN = 20

const hasTooManyStars = (pattern: string) => pattern.split('*').length - 1 > limits.pattern_stars
const MAX_NAMED = 8

/** The number of repositories, and the names of the first ones. */
const countOf = (repos: string[]): string => {
  const named = repos.slice(0, MAX_NAMED).join(', ')
  return `${repos.length}${named && ` (${named}${repos.length > MAX_NAMED ? ', …' : ''})`}`
}

const Patterns = ({ known: { asked, projects } }: { known: KnownRepos }) => {
  const workspace = useWorkspace()
  const me = useMe()
  const [text, type] = useState(workspace.patterns.join('\n'))
  const { busy, failure, act } = useAction()
  const path = { id: workspace.id }
  /** @returns the patterns as the service stores them */
  const replace = async (patterns: string[]) => {
    const { data } = await call('PUT /api/team/workspaces/{id}/patterns', { path, body: { patterns } })
    me.again()
    return data.patterns
  }
  const patterns = text.split(/\s+/).filter(Boolean)
  const starry = patterns.filter(hasTooManyStars)
  const known = [...new Set(projects.map(nameOf))]
  const covered = known.filter((repo) => patterns.some((pattern) => matchesPattern(pattern, repo)))
  const lost = known.filter(
    (repo) => !covered.includes(repo) && workspace.patterns.some((pattern) => matchesPattern(pattern, repo)),
  )
  const others = me.workspaces.filter(
    ({ id, patterns: theirs }) =>
      id !== workspace.id &&
      (theirs.some((pattern) => patterns.includes(pattern)) ||
        covered.some((repo) => theirs.some((pattern) => matchesPattern(pattern, repo)))),
  )
  const isChanged = patterns.join('\n') !== workspace.patterns.join('\n')
  return (
    <section class="card stack tight" aria-labelledby="patterns">
      <h2 id="patterns">Repository patterns</h2>
      {workspace.role !== 'admin' ? (
        <p class="mono">{workspace.patterns.join('  ')}</p>
      ) : (
        <Form
          class="stack tight"
          onSubmit={() => {
            const before = workspace.patterns
            act(async () => {
              const saved = await replace(patterns)
              toast('Patterns saved', async () => {
                const { data } = await call('GET /api/team/workspaces/{id}/patterns', { path })
                me.again()
                requireUnchanged(data.patterns.join('\n') === saved.join('\n'))
                await replace(before)
                type(before.join('\n'))
              })
            })
          }}
        >
          <label class="field">
            Patterns, one per line
            <textarea
              class="few"
              spellcheck={false}
              value={text}
              aria-describedby="patterns-help"
              onInput={(event) => type(event.currentTarget.value)}
            />
          </label>
          <p id="patterns-help" class="small muted">
            {patterns.length} of {limits.patterns_per_workspace} patterns. <span class="mono">owner/*</span>{' '}
            covers all repositories of an owner, <span class="mono">owner/api-*</span> covers some, and{' '}
            <span class="mono">owner/name</span> covers one.
          </p>
          <div role="status">
            <p>
              Known repositories covered:{' '}
              {asked.data ? countOf(covered) : asked.failure ? 'could not be loaded' : '…'}
            </p>
            {starry.length > 0 && (
              <p class="note">
                A pattern has at most {limits.pattern_stars} stars. Shorten:{' '}
                <span class="mono">{starry.join('  ')}</span>
              </p>
            )}
            {lost.length > 0 && (
              <p class="note">
                No longer covered: {countOf(lost)}. Their settings stay stored, but no member receives them.
              </p>
            )}
            {others.map(({ id, name }) => (
              <p key={id} class="muted">
                Overlaps with <bdi>{name}</bdi>. Minutes in shared repositories count in both.
              </p>
            ))}
          </div>
          {failure && <FailureNote failure={failure} />}
          <div class="row">
            <button type="submit" class="primary" aria-disabled={busy || !isChanged}>
              Save patterns
            </button>
          </div>
        </Form>
      )}
    </section>
  )
}

const Overrides = () => {
  const workspace = useWorkspace()
  const path = { id: workspace.id }
  const asked = useRead('GET /api/team/workspaces/{id}/project-settings', { path, query: {} })
  const settings = useRead('GET /api/team/workspaces/{id}/settings', { path })
  const { pages, ...paging } = usePages(asked, (cursor) =>
    call('GET /api/team/workspaces/{id}/project-settings', { path, query: { cursor } }),
  )
  const overrides = pages.flatMap((page) => page.overrides)
  const locked = settings.data?.locked ?? []
  return (
    <section class="card stack tight" aria-labelledby="overrides">
      <h2 id="overrides">Overrides</h2>
      <Loaded asked={asked} height={120}>
        {() => (
          <>
            {overrides.length === 0 && (
              <p class="muted">
                No overrides. The workspace settings apply unchanged. Open a repository to override them.
              </p>
            )}
            <ul class="stack tight" hidden={overrides.length === 0}>
              {overrides.map((one) => (
                <li key={`${one.owner}/${one.repo}`}>
                  <a href={repoAddress(workspace.id, one)}>
                    <RepoName repo={`${one.owner}/${one.repo}`} />
                  </a>
                  <div class="small muted">
                    {keysOf(Object.keys(one.settings).length)}, version {one.version} by{' '}
                    <bdi>{one.updated_by}</bdi>, {time(one.updated_at)}
                  </div>
                  <IneffectiveKeys settings={one.settings} locked={locked} />
                </li>
              ))}
            </ul>
            <More {...paging} />
          </>
        )}
      </Loaded>
    </section>
  )
}

const keysOf = (number: number) => (number === 1 ? '1 key' : `${number} keys`)

/** The keys of an override that the workspace has locked since. */
export const IneffectiveKeys = ({ settings, locked }: { settings: Values; locked: readonly string[] }) => {
  const keys = Object.keys(settings).filter((key) => locked.includes(key))
  if (keys.length === 0) return null
  return (
    <p class="note">
      {keys.length === 1 ? '1 key has' : `${keys.length} keys have`} no effect, because the workspace locked{' '}
      {keys.length === 1 ? 'it' : 'them'}: <span class="mono">{keys.join(', ')}</span>
    </p>
  )
}
