import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { call, clearCache, useAction, usePages, useRead } from '../api.js'
import { consent, sinceText } from '../consent.js'
import { days, fullDay, time, weekdays } from '../format.js'
import { same } from '../json.js'
import { useMe, type Workspace } from '../me.js'
import { usePatterns } from '../patterns.js'
import { Markdown } from '../schema.js'
import { useTitle } from '../title.js'
import { toast } from '../toast.js'
import { Card, Confirm, FailureNote, Form, Loaded, More, Person } from '../ui.js'

type Recording = AnswerOf<'GET /api/me/recording'>

/** The caller's data: what is recorded, who sees it, who viewed it, and how to pause, export or delete it. */
export const Privacy = () => {
  const { workspaces } = useMe()
  useTitle('Privacy and data')
  const recording = useRead('GET /api/me/recording', {})
  const response = useRead('GET /api/me/views', { query: { limit: VIEWS } })
  const { pages, ...paging } = usePages(response, (cursor) =>
    call('GET /api/me/views', { query: { limit: VIEWS, cursor } }),
  )
  const views = pages.flatMap((page) => page.views)
  return (
    <>
      <h1>Privacy and data</h1>
      <p class="muted narrow">Choose what the service records about you, and see who viewed it.</p>
      <div class="two">
        <div class="stack">
          <Card id="recorded" title="Recorded data">
            <p>
              The service records the minutes in which your editor is in use, by repository, day and hour. It
              doesn’t record keystrokes, file names or your screen.
            </p>
            <Stored />
          </Card>
          <Card id="who-sees" title="Who sees my numbers">
            {workspaces.length === 0 && <p class="muted">Only you. You aren’t in a workspace.</p>}
            {workspaces.map((workspace) => (
              <WhoSees key={workspace.id} workspace={workspace} />
            ))}
          </Card>
          <Card id="views" title="Views of my numbers">
            <Loaded response={response} height={80}>
              {() =>
                views.length === 0 ? (
                  <p class="muted">No views yet.</p>
                ) : (
                  <ul class="stack tight">
                    {withoutComparisons(views).map((view) => (
                      <li
                        key={`${view.viewer} ${view.day} ${view.workspace.id} ${view.kind} ${view.range.from}`}
                      >
                        <span class="row">
                          <Person login={view.viewer} />
                          {view.kind === 'csv' && <span class="tag">CSV download</span>}
                          {view.kind === 'comparison' && <span class="tag">comparison</span>}
                        </span>
                        <span class="small muted">
                          Viewed on {fullDay(view.day)}: <bdi>{view.workspace.name}</bdi>,{' '}
                          {days(view.range.from, view.range.to)}
                        </span>
                      </li>
                    ))}
                  </ul>
                )
              }
            </Loaded>
            <More {...paging} />
            <p class="small muted">
              Views are kept for 400 days. Days that a view was compared with aren’t listed.
            </p>
          </Card>
        </div>
        <div class="stack">
          <Card id="preferences" title="Recording preferences">
            <Loaded response={recording} height={240}>
              {(data) => <RecordingForm recording={data} />}
            </Loaded>
          </Card>
          <Card id="export" title="Export">
            <p>One JSON file with the data that the service stores about you.</p>
            <div>
              <a class="button" href="/api/me/export" download>
                Export my data
              </a>
            </div>
          </Card>
          <Card id="deletion" title="Deletion">
            <p>
              Deletes your account, and any workspace where you’re the only member. Your daily numbers stay in
              the other teams’ totals, without your name.
            </p>
            <div>
              <DeleteMe />
            </div>
          </Card>
        </div>
      </div>
    </>
  )
}

type View = AnswerOf<'GET /api/me/views'>['views'][number]

/** The views without the ranges they were only compared with. A comparison stays if its viewer requested nothing else that day. */
const withoutComparisons = (views: View[]): View[] => {
  const keyOf = ({ viewer, day, workspace }: View) => `${viewer} ${day} ${workspace.id}`
  const viewed = new Set(views.filter(({ kind }) => kind !== 'comparison').map(keyOf))
  return views.filter((view) => view.kind !== 'comparison' || !viewed.has(keyOf(view)))
}

/** The number of views that are loaded at once. */
const VIEWS = 10

/** Everything that the service stores about people. It's long, so it's loaded only when opened. */
const Stored = () => {
  const [isOpen, open] = useState(false)
  const response = useRead('GET /api/privacy', isOpen ? {} : undefined)
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>Everything that is stored, why, and for how long</summary>
      {isOpen && (
        <Loaded response={response} height={400}>
          {({ records }) => (
            <div class="scroll">
              <table class="entries facts">
                <caption class="away">Everything that is stored</caption>
                <thead>
                  <tr>
                    <th scope="col">Data</th>
                    <th scope="col">What and why</th>
                    <th scope="col" class="wide">
                      Kept
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {records.map(({ name, what, why, kept }) => (
                    <tr key={name}>
                      <th scope="row">{name}</th>
                      <td>
                        <Markdown text={what} /> {why}
                        <span class="muted slim">{kept}</span>
                      </td>
                      <td class="wide">{kept}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Loaded>
      )}
    </details>
  )
}

const WhoSees = ({ workspace }: { workspace: Workspace }) => (
  <p>
    <strong>
      <bdi>{workspace.name}</bdi>:
    </strong>{' '}
    {consent[workspace.activity_privacy]} In effect since {time(workspace.activity_privacy_since)}.{' '}
    {sinceText(workspace)}
  </p>
)

const WORKDAYS = [1, 2, 3, 4, 5]

const RecordingForm = ({ recording }: { recording: Recording }) => {
  const [paused, pause] = useState(recording.paused)
  const off = usePatterns(recording.repos_off.join(' '), ' ')
  const [hours, setHours] = useState(recording.hours)
  const { busy, failure, act } = useAction()
  const [saved, setSaved] = useState(recording)
  const body = { paused, repos_off: off.patterns, hours }
  const submit = async () => {
    if (!off.check()) return
    if (!(await act(() => call('PUT /api/me/recording', { body })))) return
    setSaved(body)
    toast('Preferences saved')
  }
  return (
    <Form class="stack tight" onSubmit={submit}>
      <label class="check">
        <input type="checkbox" checked={paused} onChange={(event) => pause(event.currentTarget.checked)} />
        <span>
          <strong>Pause recording</strong> until I turn it on again
        </span>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={hours !== null}
          onChange={(event) =>
            setHours(event.currentTarget.checked ? { from: 8, to: 19, weekdays: WORKDAYS } : null)
          }
        />
        <span>Record only during certain hours, in my time zone</span>
      </label>
      {hours && (
        <fieldset class="stack tight">
          <legend class="away">Recording hours</legend>
          <div class="row">
            <label>
              From{' '}
              <input
                type="number"
                min={0}
                max={23}
                value={hours.from}
                onInput={(event) => setHours({ ...hours, from: event.currentTarget.valueAsNumber })}
              />
            </label>
            <label>
              To{' '}
              <input
                type="number"
                min={0}
                max={24}
                value={hours.to}
                onInput={(event) => setHours({ ...hours, to: event.currentTarget.valueAsNumber })}
              />
            </label>
          </div>
          <div class="row">
            {weekdays().map((name, index) => (
              <label key={name} class="check">
                <input
                  type="checkbox"
                  checked={hours.weekdays.includes(index + 1)}
                  onChange={(event) =>
                    setHours({
                      ...hours,
                      weekdays: event.currentTarget.checked
                        ? [...hours.weekdays, index + 1].sort()
                        : hours.weekdays.filter((day) => day !== index + 1),
                    })
                  }
                />
                {name}
              </label>
            ))}
          </div>
        </fieldset>
      )}
      <label class="field">
        Never record in these repositories
        <input
          class="wide-input"
          placeholder="acme/secret-*"
          aria-describedby="repos-off-help"
          {...off.field}
        />
      </label>
      {off.note}
      <p id="repos-off-help" class="small muted">
        Separate names and patterns with spaces.
      </p>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button type="submit" aria-disabled={busy || same(body, saved)}>
          Save preferences
        </button>
      </div>
    </Form>
  )
}

const DeleteMe = () => {
  const { login } = useMe()
  const [asking, ask] = useState(false)
  return (
    <>
      <button type="button" class="danger" onClick={() => ask(true)}>
        Delete my account
      </button>
      {asking && (
        <Confirm
          title="Delete your account?"
          action="Delete account"
          word={login}
          onYes={async () => {
            await call('DELETE /api/me', { body: { confirm: login } })
            clearCache()
            sessionStorage.clear()
            location.assign('/?auth_error=account_deleted')
          }}
          onClose={() => ask(false)}
          explain={({ code, problem }) =>
            code === 'last_admin' &&
            ((problem.workspaces ?? []) as { id: string; name: string }[]).map(({ id, name }) => (
              <p key={id}>
                <a href={`/w/${id}/people`}>
                  <bdi>{name}</bdi>
                </a>{' '}
                would have no admin.
              </p>
            ))
          }
        >
          <p>
            This deletes your sessions, access keys, hours and memberships, and any workspace where you’re the
            only member. Your daily numbers stay in the other teams’ totals, without your name. If you sign in
            again, you get a new account. You can’t undo this.
          </p>
        </Confirm>
      )}
    </>
  )
}
