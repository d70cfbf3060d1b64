import { call, useAsk, usePages } from '../api.js'
import { time } from '../format.js'
import { useSpace } from '../me.js'
import { useQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Chip, More, Person, Shown } from '../ui.js'

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
  const asked = useAsk(
    'GET /api/team/workspaces/{id}/audit',
    space.role === 'admin' ? { path, query: {} } : undefined,
  )
  const { pages, ...paging } = usePages(asked, (cursor) =>
    call('GET /api/team/workspaces/{id}/audit', { path, query: { cursor } }),
  )
  const entries = pages.flatMap((page) => page.entries)
  const shown = entries.filter(
    ({ actor, action }) =>
      (!query.actor || actor === query.actor) && (!query.action || action === query.action),
  )
  const actions = [...new Set(entries.map(({ action }) => action))].sort()
  if (space.role !== 'admin') return <p>The audit trail is for admins.</p>
  return (
    <>
      <div class="row apart">
        <h1>
          What was changed in <bdi>{space.name}</bdi>
        </h1>
        <div class="row">
          {query.actor && <Chip text={query.actor} onRemove={() => change({ actor: undefined })} />}
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
              {shown.length === 0 && (
                <p class="muted">Nothing of this kind among the {entries.length} newest.</p>
              )}
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
