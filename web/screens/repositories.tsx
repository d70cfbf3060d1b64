import { useEffect, useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { splitRepoPath } from '../../client/src/pattern.js'
import { perCount } from '../../schemas/counts.js'
import { repoAddress, repoSettingsAddress } from '../addresses.js'
import { useRead } from '../api.js'
import { useWorkspace } from '../me.js'
import { nameOf, useProjects } from '../projects.js'
import { rangeOf, selectedRange, useComparison, useUrlQuery } from '../query.js'
import { RangeChoice, RangeProblem } from '../range.js'
import { useTitle } from '../title.js'
import { type Column, FailureOf, Form, More, RepoName, Skeleton, SortedTable } from '../ui.js'
import { hasNumbers, type Numbers, numbersOf, peopleColumn, rangeIn } from './team.js'

interface Row extends Numbers {
  /** `null`: all others. */
  repo: string | null
  members?: number | null
  has_override?: boolean
  version?: number | null
}

const NONE = { active_minutes: 0, ...perCount(() => 0), members: 0 }
const UNKNOWN = { active_minutes: null, ...perCount(() => null), members: null }

export const Repositories = () => {
  const workspace = useWorkspace()
  const { query } = useUrlQuery()
  const { route } = useLocation()
  const isAdmin = workspace.role === 'admin'
  const chosen = rangeOf(query, isAdmin && workspace.activity_privacy === 'team')
  const filter = { workspace: workspace.id }
  const options = { query: { ...filter, ...chosen.range, trends: true } }
  const isReady = !chosen.problem && query.repo === undefined
  const team = useRead('GET /api/team/dashboard', isReady && isAdmin ? options : undefined)
  const own = useRead('GET /api/team/dashboard/mine', isReady && !isAdmin ? options : undefined)
  const response = isAdmin ? team : own
  const teamCompared = useComparison('GET /api/team/dashboard', team.data, query.compare, filter)
  const ownCompared = useComparison('GET /api/team/dashboard/mine', own.data, query.compare, filter)
  const compared = isAdmin ? teamCompared : ownCompared
  const known = useProjects(query.repo === undefined)
  useTitle(isAdmin ? `${workspace.name} repositories` : 'My time by repository')
  const open = (repo: string, replace = false) =>
    route(repoAddress(workspace.id, splitRepoPath(repo)), replace)
  useEffect(() => {
    // Before repositories had their own pages, the query named the repository.
    if (query.repo) open(query.repo, true)
  }, [query.repo])
  const { data } = response
  const rows = useMemo<Row[]>(() => {
    const here = known.projects.filter(({ workspace_id }) => workspace_id === workspace.id)
    const byName = new Map(here.map((project) => [nameOf(project).toLowerCase(), project]))
    const active = (data?.repos ?? []).map((row): Row => {
      const project = byName.get(row.repo?.toLowerCase() ?? '')
      if (project) byName.delete(nameOf(project).toLowerCase())
      return { ...row, has_override: project?.has_override, version: project?.version }
    })
    // Their numbers may be in the row of all others, or hidden by a level that hides small groups.
    const isWhole = data && !('publication' in data && data.publication) && active.every((row) => row.repo)
    const others = [...byName.values()].map(
      (project): Row => ({ ...(isWhole ? NONE : UNKNOWN), ...project, repo: nameOf(project) }),
    )
    return [...active.filter(({ repo }) => repo), ...others, ...active.filter(({ repo }) => !repo)]
  }, [data, known.projects, workspace.id])
  const isShown = !data || !('publication' in data) || hasNumbers(data, workspace)
  const columns = useMemo<Column<Row>[]>(
    () => [
      {
        name: 'repo',
        title: 'Repository',
        by: ({ repo }) => repo,
        cell: ({ repo, has_override, version }) =>
          repo === null ? (
            'All others'
          ) : (
            <span class="row">
              <a href={repoAddress(workspace.id, splitRepoPath(repo)) + rangeIn(location.search)}>
                <RepoName repo={repo} />
              </a>
              {has_override && <span class="tag">override</span>}
              {version != null && (
                <a class="tag" href={repoSettingsAddress(workspace.id, splitRepoPath(repo))}>
                  pushed settings, v{version}
                </a>
              )}
            </span>
          ),
      },
      ...(data && isShown ? numbersOf('repos', rows, data.range, compared) : []),
      ...(isAdmin && isShown ? [peopleColumn as Column<Row>] : []),
    ],
    [rows, compared.now, compared.before, workspace.id, location.search],
  )
  return (
    <>
      <div class="row apart">
        <h1>
          {isAdmin ? (
            <>
              <bdi>{workspace.name}</bdi> repositories
            </>
          ) : (
            'My time by repository'
          )}
        </h1>
        <div class="row">
          <RangeChoice
            chosen={selectedRange(chosen, response)}
            isWeekly={isAdmin && workspace.activity_privacy === 'team'}
          />
        </div>
      </div>
      <p class="muted">
        {workspace.patterns.length > 0 ? (
          <>
            Patterns: <span class="mono">{workspace.patterns.join('  ')}</span>
          </>
        ) : (
          'No pattern covers any repository yet.'
        )}{' '}
        {isAdmin && (
          <a href={`/w/${workspace.id}/settings/general`}>
            Edit<span class="away"> patterns</span>
          </a>
        )}
      </p>
      {chosen.problem && <RangeProblem chosen={chosen} />}
      <FailureOf response={[response, known.response]} />
      <section class="card stack tight" aria-labelledby="repos">
        <h2 id="repos" class="away">
          Repositories
        </h2>
        {(data && !known.isLoading) || response.failure || chosen.problem ? (
          <div class={response.stale ? 'stack stale' : 'stack'} aria-busy={response.stale}>
            <SortedTable
              caption="Repositories"
              rows={rows}
              columns={columns}
              keyOf={({ repo }) => repo ?? ''}
              isRest={({ repo }) => repo === null}
              searchText={({ repo }) => repo ?? ''}
              first="active_minutes"
              shown={MAX_SHOWN}
              empty={`No repositories yet. A repository appears with ${isAdmin ? 'its first activity' : 'your first activity in it'}, pushed settings or override.`}
            >
              <More more={known.more} busy={known.busy} failure={known.failure} />
            </SortedTable>
          </div>
        ) : (
          <Skeleton height={400} />
        )}
        <Form
          class="row low"
          onSubmit={(given) => {
            open(String(given.get('repo')).trim())
          }}
        >
          <label class="field grow">
            Another repository
            <input
              name="repo"
              required
              pattern="[\w.\-]+(/[\w.\-]+)+"
              title="owner/name"
              placeholder="owner/name"
              autocomplete="off"
            />
          </label>
          <button type="submit">Open repository</button>
        </Form>
      </section>
    </>
  )
}

const MAX_SHOWN = 20
