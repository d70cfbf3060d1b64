/** A workspace's patterns, with a preview of the repositories that they cover. */
import { useState } from 'preact/hooks'
import { matchesPattern } from '../client/src/pattern.js'
import { limits } from '../schemas/limits.js'
import { call, requireUnchanged, useAction } from './api.js'
import { useMe, useWorkspace } from './me.js'
import { nameOf, useProjects } from './projects.js'
import { toast } from './toast.js'
import { Card, FailureNote, Form } from './ui.js'

const hasTooManyStars = (pattern: string) => pattern.split('*').length - 1 > limits.pattern_stars
const MAX_NAMED = 8

/** The number of repositories, and the names of the first ones. */
const countOf = (repos: string[]): string => {
  const named = repos.slice(0, MAX_NAMED).join(', ')
  return `${repos.length}${named && ` (${named}${repos.length > MAX_NAMED ? ', …' : ''})`}`
}

/** Only for admins. */
export const Patterns = () => {
  const { asked, projects } = useProjects()
  const workspace = useWorkspace()
  const me = useMe()
  const [text, type] = useState(workspace.patterns.join('\n'))
  const { busy, failure, act } = useAction()
  const path = { id: workspace.id }
  /** @returns the patterns as stored by the service */
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
    <Card id="patterns" title="Repository patterns">
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
            {asked.data ? countOf(covered) : asked.failure ? 'couldn’t be loaded' : '…'}
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
    </Card>
  )
}
