/** A workspace's patterns, with a preview of the repositories that they cover. */
import { useState } from 'preact/hooks'
import { matchesPattern } from '../client/src/pattern.js'
import { limits } from '../schemas/limits.js'
import { isPattern } from '../schemas/repo-pattern.js'
import { call, useAction } from './api.js'
import { useMe, useWorkspace } from './me.js'
import { nameOf, useProjects } from './projects.js'
import { start } from './start.js'
import { toast } from './toast.js'
import { Card, FailureNote, Form, showAtOnce } from './ui.js'
import { requireUnchanged } from './undo.js'

const hasTooManyStars = (pattern: string) => pattern.split('*').length - 1 > limits.pattern_stars
const MAX_NAMED = 8

/** The pattern that someone probably meant: `acme/*` for `acme`, or for the address of acme. */
const meantBy = (text: string): string | undefined => {
  const name = text.replace(/^(?:https?:\/\/)?[^/]*\.[^/]+\/|^@/, '').replace(/(?:\.git)?\/*$/, '')
  const guess = name.includes('/') ? name : `${name}/*`
  return isPattern(guess, start.repohost_kind) ? guess : undefined
}

/**
 * A field's patterns, and its fault, which is shown once the person has tried to save. Shown any earlier, it would move
 * what they click.
 */
export const usePatterns = (first: string, separator: string) => {
  const [text, type] = useState(first)
  const [isChecked, check] = useState(false)
  const patterns = text.split(/[\s,]+/).filter(Boolean)
  const fault = patterns.find((one) => !isPattern(one, start.repohost_kind))
  const meant = fault && meantBy(fault)
  return {
    text,
    type,
    patterns,
    /** @returns whether they can be saved */
    check: () => {
      check(true)
      return fault === undefined
    },
    field: {
      value: text,
      onInput: (event: { currentTarget: { value: string } }) => type(event.currentTarget.value),
      'aria-invalid': isChecked && fault !== undefined,
    },
    note: isChecked && fault !== undefined && (
      <div class="note row apart" role="alert" ref={showAtOnce}>
        <span>
          <bdi class="mono">{fault}</bdi> isn’t a pattern.{!meant && ' Use owner/* or owner/name.'}
        </span>
        {meant && (
          <button
            type="button"
            onClick={() => type(patterns.map((one) => (one === fault ? meant : one)).join(separator))}
          >
            Use {meant}
          </button>
        )}
      </div>
    ),
  }
}

/** The number of repositories, and the names of the first ones. */
const countOf = (repos: string[]): string => {
  const named = repos.slice(0, MAX_NAMED).join(', ')
  return `${repos.length}${named && ` (${named}${repos.length > MAX_NAMED ? ', …' : ''})`}`
}

/** The workspace's patterns, for admins. */
export const Patterns = () => {
  const { response, projects } = useProjects()
  const workspace = useWorkspace()
  const me = useMe()
  const { patterns, type, check, field, note } = usePatterns(workspace.patterns.join('\n'), '\n')
  const { busy, failure, act } = useAction()
  const path = { id: workspace.id }
  /** @returns the patterns as stored by the service */
  const replace = async (patterns: string[]) => {
    const { data } = await call('PUT /api/team/workspaces/{id}/patterns', { path, body: { patterns } })
    me.again()
    return data.patterns
  }
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
          if (!check()) return
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
          <textarea class="few" spellcheck={false} {...field} aria-describedby="patterns-help" />
        </label>
        {note}
        <p id="patterns-help" class="small muted">
          {patterns.length} of {limits.patterns_per_workspace} patterns. <span class="mono">owner/*</span>{' '}
          covers all repositories of an owner, <span class="mono">owner/api-*</span> covers some, and{' '}
          <span class="mono">owner/name</span> covers one.
        </p>
        <div role="status">
          <p>
            Known repositories covered:{' '}
            {response.data ? countOf(covered) : response.failure ? 'couldn’t be loaded' : '…'}
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
