import { useEffect, useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { announce } from '../announce.js'
import { call, useAct, useAsk, usePages } from '../api.js'
import { time } from '../format.js'
import { JsonField, parse, textOf, type Values } from '../json.js'
import { goTo } from '../keyboard.js'
import { useMe, useSpace } from '../me.js'
import { useQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Confirm, Dialog, FailureNote, Filters, Form, More, Shown } from '../ui.js'

type Override = AnswerOf<'GET /api/team/workspaces/{id}/project-settings'>['overrides'][number]

/** Matches like the service: ignores case, and `*` stands for zero or more characters of the name. */
const matches = (pattern: string, repo: string): boolean => {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const name = repo.toLowerCase()
  if (rest.length === 0) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  const last = rest.pop() ?? ''
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

export const Repositories = () => {
  const space = useSpace()
  const { query, change } = useQuery()
  const known = useKnown(query.repo === undefined)
  const [hasChosen, choose] = useState(false)
  useTitle(`${space.name} repositories`)
  useEffect(() => {
    if (hasChosen) goTo(document.getElementById(query.repo ? 'effective' : 'known'))
  }, [query.repo])
  const show = (repo: string | undefined) => {
    choose(true)
    change({ repo })
  }
  return (
    <>
      <h1>
        <bdi>{space.name}</bdi> repositories
      </h1>
      {query.repo ? (
        <>
          <Filters on={[[query.repo, () => show(undefined)]]} />
          <Effective repo={query.repo} />
        </>
      ) : (
        <div class="two">
          <Known known={known} onChoose={show} />
          <Patterns known={known} />
        </div>
      )}
      <Overrides only={query.repo} />
    </>
  )
}

const useKnown = (isShown: boolean) => {
  const asked = useAsk('GET /api/projects', isShown ? { query: { limit: 500 } } : undefined)
  const paged = usePages(asked, (cursor) => call('GET /api/projects', { query: { limit: 500, cursor } }))
  return { asked, ...paged, projects: paged.pages.flatMap(({ projects }) => projects) }
}

type KnownRepos = ReturnType<typeof useKnown>

const Known = ({ known, onChoose }: { known: KnownRepos; onChoose: (repo: string) => void }) => {
  const space = useSpace()
  const { asked, projects, more, busy, failure } = known
  const here = projects.filter(({ workspace_id }) => workspace_id === space.id)
  return (
    <section class="card stack tight" aria-labelledby="known">
      <h2 id="known">Known repositories</h2>
      <Shown asked={asked} height={200}>
        {() => (
          <>
            {here.length === 0 && (
              <p class="muted">
                No known repositories yet. Push settings from the editor extension, or create an override.
              </p>
            )}
            {here.length > 0 && (
              <div class="scroll">
                <table>
                  <caption class="away">Known repositories</caption>
                  <thead>
                    <tr>
                      <th scope="col">Repository</th>
                      <th scope="col">Pushed settings</th>
                      <th scope="col">Actions</th>
                    </tr>
                  </thead>
                  <tbody>
                    {here.map(({ owner, repo, version, has_override }) => (
                      <tr key={`${owner}/${repo}`}>
                        <th scope="row">
                          <bdi>
                            {owner}/{repo}
                          </bdi>{' '}
                          {has_override && <span class="tag">override</span>}
                        </th>
                        <td>
                          {version === null ? (
                            <span class="muted">never</span>
                          ) : (
                            <a href={`/s/${owner}/${repo}?workspace=${space.id}`}>
                              version {version}
                              {version > 1 && ' and older'}
                            </a>
                          )}
                        </td>
                        <td>
                          <button type="button" class="link" onClick={() => onChoose(`${owner}/${repo}`)}>
                            View effective settings<span class="away"> for {`${owner}/${repo}`}</span>
                          </button>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            <More more={more} busy={busy} failure={failure} />
          </>
        )}
      </Shown>
      <Form
        class="row"
        onSubmit={(given) => {
          onChoose(String(given.get('repo')).trim())
        }}
      >
        <label class="row">
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
        <button type="submit">View effective settings</button>
      </Form>
    </section>
  )
}

const MOST_PATTERNS = 50
const MOST_STARS = 4
const hasTooManyStars = (pattern: string) => pattern.split('*').length - 1 > MOST_STARS
const MOST_NAMED = 8

/** The number of repositories, and the names of the first ones. */
const countOf = (repos: string[]): string => {
  const named = repos.slice(0, MOST_NAMED).join(', ')
  return `${repos.length}${named && ` (${named}${repos.length > MOST_NAMED ? ', …' : ''})`}`
}

const Patterns = ({ known: { asked, projects } }: { known: KnownRepos }) => {
  const space = useSpace()
  const me = useMe()
  const [text, type] = useState(space.patterns.join('\n'))
  const { busy, failure, act } = useAct()
  const patterns = text.split(/\s+/).filter(Boolean)
  const starry = patterns.filter(hasTooManyStars)
  const known = [...new Set(projects.map(({ owner, repo }) => `${owner}/${repo}`))]
  const covered = known.filter((repo) => patterns.some((pattern) => matches(pattern, repo)))
  const lost = known.filter(
    (repo) => !covered.includes(repo) && space.patterns.some((pattern) => matches(pattern, repo)),
  )
  const others = me.workspaces.filter(
    ({ id, patterns: theirs }) =>
      id !== space.id &&
      (theirs.some((pattern) => patterns.includes(pattern)) ||
        covered.some((repo) => theirs.some((pattern) => matches(pattern, repo)))),
  )
  const isChanged = patterns.join('\n') !== space.patterns.join('\n')
  return (
    <section class="card stack tight" aria-labelledby="patterns">
      <h2 id="patterns">Repository patterns</h2>
      {space.role !== 'admin' ? (
        <p class="mono">{space.patterns.join('  ')}</p>
      ) : (
        <Form
          class="stack tight"
          onSubmit={() => {
            act(async () => {
              await call('PUT /api/team/workspaces/{id}/patterns', {
                path: { id: space.id },
                body: { patterns },
              })
              me.again()
              announce('Patterns saved')
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
            {patterns.length} of {MOST_PATTERNS}. <span class="mono">owner/*</span> covers all repositories of
            an owner, <span class="mono">owner/api-*</span> some, and <span class="mono">owner/name</span>{' '}
            one.
          </p>
          <div role="status">
            <p>
              Covered known repositories:{' '}
              {asked.data ? countOf(covered) : asked.failure ? 'could not load them' : '…'}
            </p>
            {starry.length > 0 && (
              <p class="note">
                A pattern has at most {MOST_STARS} stars. Shorten:{' '}
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

const Effective = ({ repo }: { repo: string }) => {
  const space = useSpace()
  const asked = useAsk('GET /api/team/effective-config', { query: { repo, workspace: space.id } })
  const whole = useAsk('GET /api/team/workspaces/{id}/settings', { path: { id: space.id } })
  return (
    <section class="card stack tight" aria-labelledby="effective">
      <h2 id="effective">
        Effective settings for <bdi>{repo}</bdi>
      </h2>
      <Shown asked={asked} height={200}>
        {(data) => (
          <Shown asked={whole} height={200}>
            {({ settings }) => <EffectiveSettings data={data} general={settings} />}
          </Shown>
        )}
      </Shown>
    </section>
  )
}

/** Every key of a repository with its source, and the workspace keys that its override hides. */
const EffectiveSettings = ({
  data,
  general,
}: {
  data: AnswerOf<'GET /api/team/effective-config'>
  general: Values
}) => {
  const hidden = Object.keys(general).filter((key) => !(key in data.settings))
  return (
    <>
      <p class="muted">
        Matched pattern: <span class="mono">{data.matched_pattern}</span>. Idle window:{' '}
        {data.idle_window_minutes} minutes.
        {data.also_matched.length > 0 && ' Your other workspaces also cover this repository.'}
      </p>
      <div class="scroll">
        <table>
          <caption class="away">Effective settings</caption>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Value</th>
              <th scope="col">Source</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(data.settings).map(([key, value]) => (
              <tr key={key}>
                <th scope="row" class="mono">
                  {key}
                </th>
                <td class="mono">{JSON.stringify(value)}</td>
                <td>
                  {data.sources[key] === 'project' ? (
                    <>
                      override
                      {key in general && (
                        <span class="muted">
                          {' '}
                          (workspace: <bdi>{JSON.stringify(general[key])}</bdi>)
                        </span>
                      )}
                    </>
                  ) : (
                    'workspace'
                  )}
                </td>
              </tr>
            ))}
            {hidden.map((key) => (
              <tr key={key}>
                <th scope="row" class="mono">
                  {key}
                </th>
                <td class="muted">none</td>
                <td>hidden by the override</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {Object.keys(data.settings).length + hidden.length === 0 && <p class="muted">No effective settings.</p>}
    </>
  )
}

const Overrides = ({ only }: { only: string | undefined }) => {
  const space = useSpace()
  const path = { id: space.id }
  const asked = useAsk('GET /api/team/workspaces/{id}/project-settings', { path, query: {} })
  const { pages, ...paging } = usePages(asked, (cursor) =>
    call('GET /api/team/workspaces/{id}/project-settings', { path, query: { cursor } }),
  )
  const [editing, edit] = useState<{ repo: string; settings: Values }>()
  const [removing, remove] = useState<Override>()
  const { busy, failure, act } = useAct()
  const isAdmin = space.role === 'admin'
  const overrides = pages
    .flatMap((page) => page.overrides)
    .filter(({ owner, repo }) => !only || `${owner}/${repo}`.toLowerCase() === only.toLowerCase())
  return (
    <section class="card stack tight" aria-labelledby="overrides">
      <header class="row apart">
        <h2 id="overrides">Overrides</h2>
        {isAdmin && (
          <button type="button" onClick={() => edit({ repo: only ?? '', settings: {} })}>
            Create override
          </button>
        )}
      </header>
      <Shown asked={asked} height={120}>
        {() => (
          <>
            {overrides.length === 0 && (
              <p class="muted">No overrides. The workspace settings apply unchanged.</p>
            )}
            <ul class="stack tight">
              {overrides.map((one) => (
                <li key={`${one.owner}/${one.repo}`} class="stack tight">
                  <div class="row apart">
                    <div>
                      <strong>
                        <bdi>
                          {one.owner}/{one.repo}
                        </bdi>
                      </strong>
                      <div class="small muted">
                        Updated by <bdi>{one.updated_by}</bdi>, {time(one.updated_at)}
                      </div>
                    </div>
                    {isAdmin && (
                      <div class="row">
                        <button
                          type="button"
                          onClick={() => edit({ repo: `${one.owner}/${one.repo}`, settings: one.settings })}
                        >
                          Edit
                          <span class="away"> {`${one.owner}/${one.repo}`}</span>
                        </button>
                        <button type="button" class="danger" onClick={() => remove(one)}>
                          Remove
                          <span class="away"> {`${one.owner}/${one.repo}`}</span>
                        </button>
                      </div>
                    )}
                  </div>
                  <pre class="diff">{textOf(one.settings)}</pre>
                </li>
              ))}
            </ul>
            <More {...paging} />
          </>
        )}
      </Shown>
      {editing && <EditOverride {...editing} onClose={() => edit(undefined)} onSaved={asked.again} />}
      {removing && (
        <Confirm
          title={`Remove the override for ${removing.owner}/${removing.repo}?`}
          action="Remove override"
          busy={busy}
          failure={failure}
          onNo={() => remove(undefined)}
          onYes={async () => {
            const { owner, repo } = removing
            const done = await act(async () => {
              await call('DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}', {
                path: { id: space.id, owner, repo },
              })
              asked.again()
            })
            if (done) remove(undefined)
          }}
        >
          <p>The workspace settings apply to this repository again. You cannot undo this.</p>
        </Confirm>
      )}
    </section>
  )
}

const EditOverride = (props: {
  repo: string
  settings: Values
  onClose: () => void
  onSaved: () => void
}) => {
  const space = useSpace()
  const [repo, setRepo] = useState(props.repo)
  const [text, type] = useState(textOf(props.settings))
  const { busy, failure, act } = useAct()
  const parsed = parse(text, { allowNull: true })
  const submit = async () => {
    if (!('values' in parsed)) return
    const [owner = '', name = ''] = repo.split('/')
    const done = await act(() =>
      call('PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}', {
        path: { id: space.id, owner, repo: name },
        body: { settings: parsed.values },
      }),
    )
    if (!done) return
    props.onSaved()
    props.onClose()
  }
  return (
    <Dialog title="Repository override" onClose={props.onClose}>
      <Form class="stack" onSubmit={submit}>
        <label class="field">
          Repository
          <input
            class="wide-input"
            required
            pattern="[\w.\-]+/[\w.\-]+"
            title="owner/name"
            placeholder="owner/name"
            value={repo}
            readOnly={props.repo !== ''}
            onInput={(event) => setRepo(event.currentTarget.value)}
          />
        </label>
        <JsonField
          label="Settings (JSON)"
          text={text}
          error={'error' in parsed ? parsed.error : undefined}
          onType={type}
        >
          Set a workspace key to null to hide it.
        </JsonField>
        {failure && <FailureNote failure={failure} />}
        <div class="row end">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={busy || !('values' in parsed)}>
            Save override
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
