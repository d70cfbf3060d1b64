import { useEffect, useState } from 'preact/hooks'
import { splitRepoPath } from '../../client/src/pattern.js'
import { call, type ReadState, useAction, usePages, useRead } from '../api.js'
import { csvOf, type Entry, KNOWN_ACTIONS, labelOf, type Sentence, sentenceOf } from '../audit-text.js'
import { download } from '../download.js'
import { capitalized, count, time, today, utcDay } from '../format.js'
import { type Content, Difference } from '../history.js'
import { useWorkspace } from '../me.js'
import { useUrlQuery } from '../query.js'
import { SettingKey } from '../setting-key.js'
import { toast } from '../toast.js'
import { DownloadIcon, FailureNote, Loaded, More, Person } from '../ui.js'

/**
 * The service doesn't filter, so the page searches: until it has enough matches or has read the maximum number of
 * entries.
 */
const [ENOUGH, MAX_SEARCHED, FIRST, PAGE] = [10, 2_000, 100, 500]

/** The maximum number of entries in a file. */
const MAX_IN_FILE = 20_000

interface Filter {
  actor?: string | undefined
  action?: string | undefined
  from?: string | undefined
  to?: string | undefined
  /** A setting. */
  key?: string | undefined
  repo?: string | undefined
}

const concerns = ({ details }: Entry, key: string): boolean =>
  Object.values(details).some((listed) => Array.isArray(listed) && listed.includes(key))

/** When days begin and end in the viewer's time zone. An invalid date sets no bound. */
const boundsOf = ({ from, to }: Filter) => ({
  start: (from && Date.parse(`${from}T00:00`)) || Number.NEGATIVE_INFINITY,
  end: (to && Date.parse(`${to}T23:59:59.999`)) || Number.POSITIVE_INFINITY,
})

const filterOf = (filter: Filter) => {
  const { start, end } = boundsOf(filter)
  return {
    matches: (entry: Entry) =>
      (!filter.actor || entry.actor === filter.actor) &&
      (!filter.action || entry.action === filter.action) &&
      (!filter.key || concerns(entry, filter.key)) &&
      (!filter.repo || entry.target?.toLowerCase() === filter.repo.toLowerCase()) &&
      Date.parse(entry.at) >= start &&
      Date.parse(entry.at) <= end,
    /** Entries come newest first, so older ones can't match. */
    endsBefore: (entry: Entry | undefined) => entry !== undefined && Date.parse(entry.at) < start,
  }
}

/** The audit trail, for admins. */
export const Audit = () => {
  const workspace = useWorkspace()
  const { query, change } = useUrlQuery()
  const path = { id: workspace.id }
  const { actor, action, from, to, key, repo } = query
  const filter: Filter = { actor, action, from, to, key, repo }
  const isFiltered = Object.values(filter).some(Boolean)
  const { matches, endsBefore } = filterOf(filter)
  const response = useRead('GET /api/team/workspaces/{id}/audit', { path, query: { limit: FIRST } })
  const { pages, ...paging } = usePages(response, (cursor) =>
    call('GET /api/team/workspaces/{id}/audit', {
      path,
      query: { cursor, limit: isFiltered ? PAGE : FIRST },
    }),
  )
  const saving = useAction()
  const [leftOut, note] = useState<string>()
  const entries = pages.flatMap((page) => page.entries)
  const shown = entries.filter(matches)
  const oldest = entries.at(-1)
  const isOver = endsBefore(oldest)
  const more = isOver ? undefined : paging.more
  const { busy, failure } = paging
  const isSearching = isFiltered && shown.length < ENOUGH && entries.length < MAX_SEARCHED && !failure
  useEffect(() => {
    if (isSearching && !busy) more?.()
  }, [isSearching, busy, entries.length, isOver])
  const save = () =>
    saving.act(async () => {
      note(undefined)
      const all: Entry[] = []
      let cursor: string | null | undefined
      do {
        const { data } = await call('GET /api/team/workspaces/{id}/audit', {
          path,
          query: { limit: PAGE, ...(cursor && { cursor }) },
        })
        all.push(...data.entries.filter(matches))
        cursor = endsBefore(data.entries.at(-1)) ? null : data.next_cursor
      } while (cursor && all.length <= MAX_IN_FILE)
      const written = all.slice(0, MAX_IN_FILE)
      const isCut = written.length < all.length
      const oldest = written.at(-1)
      const textWith = (show: (at: string) => string) =>
        isCut && oldest
          ? `The file has only the newest ${count(written.length)} entries. The oldest of them is from ${show(oldest.at)}. To download older entries, choose that date under “To”.`
          : undefined
      // The times in the file are in UTC, those on the page in the viewer's time zone.
      download(`audit-${utcDay()}.csv`, csvOf(written, textWith(String)), 'text/csv')
      note(textWith(time))
      toast(`${count(written.length)} ${written.length === 1 ? 'entry' : 'entries'} downloaded`)
    })
  const choices = (name: 'actor' | 'action', known: string[]) =>
    [
      ...new Set([...known, ...entries.map((entry) => entry[name]), ...(filter[name] ? [filter[name]] : [])]),
    ].sort()
  return (
    <>
      {saving.failure && <FailureNote failure={saving.failure} />}
      {leftOut && (
        <p class="note" role="status">
          {leftOut}
        </p>
      )}
      <div class="row low">
        <label class="field">
          Person
          <select
            value={filter.actor ?? ''}
            onChange={(event) => change({ actor: event.currentTarget.value })}
          >
            <option value="">Everyone</option>
            {choices('actor', []).map((actor) => (
              <option key={actor} value={actor}>
                {actor}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Action
          <select
            value={filter.action ?? ''}
            onChange={(event) => change({ action: event.currentTarget.value })}
          >
            <option value="">All actions</option>
            {choices('action', KNOWN_ACTIONS).map((action) => (
              <option key={action} value={action}>
                {capitalized(labelOf(action))}
              </option>
            ))}
          </select>
        </label>
        {(['key', 'repo'] as const).map((name) => (
          <label key={name} class="field">
            {name === 'key' ? 'Setting' : 'Repository'}
            <input
              type="search"
              value={filter[name] ?? ''}
              placeholder="All"
              spellcheck={false}
              onChange={(event) => change({ [name]: event.currentTarget.value.trim() })}
            />
          </label>
        ))}
        {(['from', 'to'] as const).map((end) => (
          <label key={end} class="field">
            {end === 'from' ? 'From' : 'To'}
            <input
              type="date"
              value={filter[end] ?? ''}
              max={end === 'from' ? (filter.to ?? today()) : undefined}
              min={end === 'to' ? filter.from : undefined}
              onChange={(event) => change({ [end]: event.currentTarget.value })}
            />
          </label>
        ))}
        <button type="button" aria-disabled={saving.busy} onClick={save}>
          <DownloadIcon />
          Download CSV
        </button>
        {isFiltered && (
          <button
            type="button"
            onClick={() => change(Object.fromEntries(Object.keys(filter).map((name) => [name, undefined])))}
          >
            Clear filters
          </button>
        )}
      </div>
      <section class="card stack tight" aria-label="Entries">
        <Loaded response={response} height={400}>
          {() => (
            <>
              <p class={isFiltered ? 'muted' : 'away'} role="status">
                {isFiltered &&
                  oldest &&
                  `${count(shown.length)} of ${more ? 'the newest ' : ''}${count(entries.length)} entries, since ${time(oldest.at)}.${
                    isSearching && more ? ' Searching older entries…' : ''
                  }`}
              </p>
              <div class="scroll">
                <table class="entries">
                  <caption class="away">Entries, newest first</caption>
                  <thead>
                    <tr>
                      <th scope="col">Person</th>
                      <th scope="col">Change</th>
                      <th scope="col" class="wide">
                        Time
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map((entry) => (
                      <Row
                        key={entry.id}
                        entry={entry}
                        workspaceId={workspace.id}
                        onChoose={() => change({ actor: entry.actor })}
                      />
                    ))}
                  </tbody>
                </table>
              </div>
              {shown.length === 0 && !more && <p class="muted">No entries match the filters.</p>}
              <More {...paging} more={more} />
            </>
          )}
        </Loaded>
      </section>
      <p class="small muted">Entries are kept for 400 days.</p>
    </>
  )
}

const Row = (props: { entry: Entry; workspaceId: string; onChoose: () => void }) => {
  const { actor, at } = props.entry
  const { parts, lines, changed } = sentenceOf(props.entry, props.workspaceId)
  const [isOpen, open] = useState(false)
  return (
    <tr>
      <th scope="row">
        <button type="button" class="choice" title={`Show only ${actor}`} onClick={props.onChoose}>
          <Person login={actor} />
        </button>
      </th>
      <td>
        {parts.map((part, index) =>
          typeof part === 'string'
            ? part
            : part.name && (
                <bdi key={index}>{part.href ? <a href={part.href}>{part.name}</a> : part.name}</bdi>
              ),
        )}
        {lines.length > 0 && (
          <ul class="small muted">
            {lines.map((line) =>
              typeof line === 'string' ? (
                <li key={line}>
                  <bdi>{line}</bdi>
                </li>
              ) : (
                <li key={`${line.verb} ${line.key}`}>
                  {line.verb} <SettingKey name={line.key} />
                </li>
              ),
            )}
          </ul>
        )}
        {changed && (
          <details class="small" onToggle={(event) => open(event.currentTarget.open)}>
            <summary>Values</summary>
            {isOpen && <Values key={changed.version} {...changed} repo={props.entry.target ?? ''} />}
          </details>
        )}
        <div class="small muted slim">{time(at)}</div>
      </td>
      <td class="small wide">{time(at)}</td>
    </tr>
  )
}

/** The values before and after a version. */
const Values = ({ of, version, repo: name }: NonNullable<Sentence['changed']> & { repo: string }) => {
  const { id } = useWorkspace()
  const repo = splitRepoPath(name)
  const useVersion = (version: number | undefined): ReadState<Content> => {
    if (version === undefined) throw new Error('Both versions are known')
    if (of === 'settings')
      return useRead('GET /api/team/workspaces/{id}/settings/versions/{version}', { path: { id, version } })
    if (of === 'override')
      return useRead('GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions/{version}', {
        path: { id, ...repo, version },
      })
    return useRead('GET /api/settings/{owner}/{repo}/versions/{version}', {
      path: { ...repo, version },
      query: { workspace: id },
    })
  }
  return <Difference older={version - 1} newer={version} useVersion={useVersion} />
}
