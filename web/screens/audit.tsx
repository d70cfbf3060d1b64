import { useEffect } from 'preact/hooks'
import { call, useAsk, usePages } from '../api.js'
import { count, time } from '../format.js'
import { useSpace } from '../me.js'
import { useQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Filters, More, Person, Shown } from '../ui.js'

/** What can be chosen before it was met; what else is met can be chosen as well. */
const KNOWN = [
  'activity.closed_issues activity.commits activity_privacy.changed invite.created invite.revoked invites.revoked',
  'member.joined member.left member.removed member.role_changed override.removed override.set patterns.replaced',
  'settings.deleted settings.pushed settings.restored workspace.created workspace.renamed workspace_settings.changed',
].flatMap((line) => line.split(' '))

/** The service does not filter, so pages are looked through: until so many are found, or so many were looked at. */
const [ENOUGH, MOST, PAGE] = [10, 2_000, 500]

/** What was done, in words: `member.removed` as “member removed”. */
const wordsOf = (action: string) => action.replaceAll(/[._]/g, ' ')

const written = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null && 'before' in value && 'after' in value) {
    return `from ${written(value.before)} to ${written(value.after)}`
  }
  return JSON.stringify(value)
}

export const Audit = () => {
  const space = useSpace()
  const { query, change } = useQuery()
  useTitle(`Audit of ${space.name}`)
  const path = { id: space.id }
  const isFiltered = Boolean(query.actor || query.action)
  const asked = useAsk(
    'GET /api/team/workspaces/{id}/audit',
    space.role === 'admin' ? { path, query: {} } : undefined,
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
  const goesOn = isFiltered && shown.length < ENOUGH && entries.length < MOST && !failure
  useEffect(() => {
    if (goesOn && !busy) more?.()
  }, [goesOn, busy, entries.length])
  if (space.role !== 'admin') {
    return (
      <>
        <h1>The audit trail is for admins</h1>
        <p>
          <a href={`/w/${space.id}/people`}>Who they are</a>
        </p>
      </>
    )
  }
  return (
    <>
      <div class="row apart">
        <h1>
          What was changed in <bdi>{space.name}</bdi>
        </h1>
        <div class="row">
          <Filters on={[[query.actor, () => change({ actor: undefined })]]} />
          <label class="row">
            Show
            <select
              value={query.action ?? ''}
              onChange={(event) => change({ action: event.currentTarget.value })}
            >
              <option value="">everything</option>
              {actions.map((action) => (
                <option key={action} value={action}>
                  {wordsOf(action)}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <section class="card stack tight" aria-label="Entries">
        <Shown asked={asked} height={400}>
          {() => (
            <>
              <p class={isFiltered ? 'muted' : 'away'} role="status">
                {isFiltered &&
                  oldest &&
                  `${count(shown.length)} of ${more ? 'the' : 'all'} ${count(entries.length)}${
                    more ? ' newest' : ''
                  }, back to ${time(oldest.at)}${goesOn && more ? '; looking further back …' : ''}.`}
              </p>
              <div class="scroll">
                <table>
                  <caption class="away">Changes, newest first</caption>
                  <thead>
                    <tr>
                      <th scope="col">Who</th>
                      <th scope="col">What</th>
                      <th scope="col">Details</th>
                      <th scope="col" class="wide">
                        When
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
                          {wordsOf(action)} {target && <bdi class="muted">{target}</bdi>}
                          <div class="small muted slim">{time(at)}</div>
                        </td>
                        <td class="mono">
                          {Object.entries(details).map(([name, value]) => (
                            <div key={name}>
                              {name.replaceAll('_', ' ')}: {written(value)}
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
        </Shown>
      </section>
      <p class="small muted">Kept for 400 days.</p>
    </>
  )
}
