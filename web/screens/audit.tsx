import { useEffect } from 'preact/hooks'
import { call, usePages, useRead } from '../api.js'
import { count, time } from '../format.js'
import { useWorkspace } from '../me.js'
import { useUrlQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Filters, Loaded, More, Person } from '../ui.js'

/** Actions to filter by. Other actions are added when an entry has them. */
const KNOWN = [
  'activity.closed_issues activity.commits activity_privacy.changed invite.created invite.revoked invites.revoked',
  'key.created key.revoked member.joined member.left member.removed member.role_changed override.removed override.set patterns.replaced',
  'settings.deleted settings.pushed settings.restored workspace.created workspace.renamed workspace_settings.changed',
].flatMap((line) => line.split(' '))

/** The service does not filter, so the page searches: until it has enough matches or has read the most entries. */
const [ENOUGH, MOST, PAGE] = [10, 2_000, 500]

/** An action as text: `member.removed` as “member removed”. */
const labelOf = (action: string) => action.replaceAll(/[._]/g, ' ')

const format = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && 'before' in value && 'after' in value) {
    return `from ${format(value.before)} to ${format(value.after)}`
  }
  return JSON.stringify(value)
}

export const Audit = () => {
  const workspace = useWorkspace()
  const { query, change } = useUrlQuery()
  useTitle(`${workspace.name} audit trail`)
  const path = { id: workspace.id }
  const isFiltered = Boolean(query.actor || query.action)
  const asked = useRead(
    'GET /api/team/workspaces/{id}/audit',
    workspace.role === 'admin' ? { path, query: {} } : undefined,
  )
  const { pages, ...paging } = usePages(asked, (cursor) =>
    call('GET /api/team/workspaces/{id}/audit', {
      path,
      query: { cursor, ...(isFiltered && { limit: PAGE }) },
    }),
  )
  const entries = pages.flatMap((page) => page.entries)
  const shown = entries.filter(
    ({ actor, action }) =>
      (!query.actor || actor === query.actor) && (!query.action || action === query.action),
  )
  const actions = [...new Set([...KNOWN, ...entries.map(({ action }) => action)])].sort()
  const oldest = entries.at(-1)
  const { more, busy, failure } = paging
  const isSearching = isFiltered && shown.length < ENOUGH && entries.length < MOST && !failure
  useEffect(() => {
    if (isSearching && !busy) more?.()
  }, [isSearching, busy, entries.length])
  if (workspace.role !== 'admin') {
    return (
      <>
        <h1>Admins only</h1>
        <p>
          Only admins see the audit trail. <a href={`/w/${workspace.id}/people`}>View admins</a>
        </p>
      </>
    )
  }
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{workspace.name}</bdi> audit trail
        </h1>
        <div class="row">
          <Filters on={[[query.actor, () => change({ actor: undefined })]]} />
          <label class="row">
            Action
            <select
              value={query.action ?? ''}
              onChange={(event) => change({ action: event.currentTarget.value })}
            >
              <option value="">all actions</option>
              {actions.map((action) => (
                <option key={action} value={action}>
                  {labelOf(action)}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <section class="card stack tight" aria-label="Entries">
        <Loaded asked={asked} height={400}>
          {() => (
            <>
              <p class={isFiltered ? 'muted' : 'away'} role="status">
                {isFiltered &&
                  oldest &&
                  `${count(shown.length)} of ${more ? 'the newest ' : ''}${count(entries.length)} entries, since ${time(oldest.at)}.${
                    isSearching && more ? ' Searching older entries …' : ''
                  }`}
              </p>
              <div class="scroll">
                <table>
                  <caption class="away">Entries, newest first</caption>
                  <thead>
                    <tr>
                      <th scope="col">Person</th>
                      <th scope="col">Action</th>
                      <th scope="col">Details</th>
                      <th scope="col" class="wide">
                        Time
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {shown.map(({ id, actor, action, target, details, at }) => (
                      <tr key={id}>
                        <th scope="row">
                          <button
                            type="button"
                            class="choice"
                            title={`Show only ${actor}`}
                            onClick={() => change({ actor })}
                          >
                            <Person login={actor} />
                          </button>
                        </th>
                        <td>
                          {labelOf(action)} {target && <bdi class="muted">{target}</bdi>}
                          <div class="small muted slim">{time(at)}</div>
                        </td>
                        <td class="mono">
                          {Object.entries(details).map(([name, value]) => (
                            <div key={name}>
                              {name.replaceAll('_', ' ')}: {format(value)}
                            </div>
                          ))}
                        </td>
                        <td class="small wide">{time(at)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <More {...paging} />
            </>
          )}
        </Loaded>
      </section>
      <p class="small muted">Entries are kept for 400 days.</p>
    </>
  )
}
