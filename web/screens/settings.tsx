import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { announce } from '../announce.js'
import { call, useAct, useAsk } from '../api.js'
import { bytes, people, time } from '../format.js'
import {
  Diff,
  JsonField,
  merged,
  parse,
  patchOf,
  SETTINGS_BYTES,
  sizeOf,
  textOf,
  type Values,
} from '../json.js'
import { useMe, useSpace } from '../me.js'
import { useTitle } from '../title.js'
import { Confirm, FailureNote, Form, Shown } from '../ui.js'

type State = AnswerOf<'GET /api/team/workspaces/{id}/settings'>

export const Settings = () => {
  const space = useSpace()
  useTitle(`${space.name} settings`)
  const asked = useAsk('GET /api/team/workspaces/{id}/settings', { path: { id: space.id } })
  const isAdmin = space.role === 'admin'
  return (
    <>
      <h1>
        <bdi>{space.name}</bdi> settings
      </h1>
      <Shown asked={asked} height={600}>
        {(state) =>
          isAdmin ? (
            <Editor state={state} etag={asked.etag} again={asked.again} />
          ) : (
            <section class="card stack tight">
              <p class="muted">Every member’s editor uses these settings. Only admins can change them.</p>
              <p>Idle window: {state.idle_window_minutes} minutes</p>
              <pre class="diff">{textOf(state.settings)}</pre>
            </section>
          )
        }
      </Shown>
      {isAdmin && (
        <div class="two">
          <Rename />
          <DeleteSpace />
        </div>
      )}
    </>
  )
}

/** An admin's unsaved changes, and the state that they started from. */
interface Draft {
  base: State
  etag: string | undefined
  text: string
  idle: number
  privacy: State['activity_privacy']
}

const draftOf = (state: State, etag: string | undefined): Draft => ({
  base: state,
  etag,
  text: textOf(state.settings),
  idle: state.idle_window_minutes,
  privacy: state.activity_privacy,
})

const Editor = ({ state, etag, again }: { state: State; etag: string | undefined; again: () => void }) => {
  const space = useSpace()
  const me = useMe()
  const [draft, set] = useState(() => draftOf(state, etag))
  const [conflict, setConflict] = useState<{ theirs: State; etag: string | undefined }>()
  const [saved, setSaved] = useState(false)
  const { busy, failure, act, clear } = useAct()
  const edit = (change: Partial<Draft>) => {
    setSaved(false)
    set((old) => ({ ...old, ...change }))
  }
  const parsed = parse(draft.text)
  const values = 'values' in parsed ? parsed.values : undefined
  const patch = values ? patchOf(draft.base.settings, values) : {}
  const changes = {
    ...(Object.keys(patch).length > 0 && { settings: patch }),
    ...(draft.idle !== draft.base.idle_window_minutes && { idle_window_minutes: draft.idle }),
    ...(draft.privacy !== draft.base.activity_privacy && { activity_privacy: draft.privacy }),
  }
  const isChanged = Object.keys(changes).length > 0
  const path = { id: space.id }

  const save = () =>
    act(async () => {
      try {
        const { data, etag } = await call('PATCH /api/team/workspaces/{id}/settings', {
          path,
          body: changes,
          headers: { 'If-Match': draft.etag },
        })
        set(draftOf(data, etag))
        setConflict(undefined)
        setSaved(true)
        again()
        if (changes.activity_privacy) me.again()
      } catch (error) {
        if ((error as { code: string }).code !== 'version_conflict') throw error
        const theirs = await call('GET /api/team/workspaces/{id}/settings', { path })
        setConflict({ theirs: theirs.data, etag: theirs.etag })
        throw error
      }
    })

  return (
    <Form class="stack" onSubmit={save}>
      <div class="lead">
        <section class="card stack tight" aria-label="Editor settings">
          <JsonField
            label="Editor settings (JSON)"
            text={draft.text}
            error={'error' in parsed ? parsed.error : undefined}
            onType={(text) => edit({ text })}
          >
            {values && `${bytes(sizeOf(values))} of ${bytes(SETTINGS_BYTES)} used`}
          </JsonField>
          <p class="small muted">
            Settings pushed for one repository, with all versions, are under{' '}
            <a href={`/w/${space.id}/repos`}>Repositories</a>.
          </p>
        </section>
        <section class="card stack" aria-label="Activity">
          <div class="stack tight">
            <label class="field">
              Idle window in minutes
              <input
                type="number"
                min={1}
                max={15}
                required
                value={draft.idle}
                aria-describedby="idle-help"
                onInput={(event) => edit({ idle: event.currentTarget.valueAsNumber })}
              />
            </label>
            <p id="idle-help" class="small muted">
              Editors stop counting after this time without a key press or click. They use at least 5 and at
              most 10 minutes.
            </p>
          </div>
          <fieldset class="stack tight">
            <legend>Who sees a person’s numbers</legend>
            {levels.map(([level, title, about]) => (
              <label key={level} class="check">
                <input
                  type="radio"
                  name="privacy"
                  checked={draft.privacy === level}
                  onChange={() => edit({ privacy: level })}
                />
                <span>
                  <strong>{title}</strong>
                  <br />
                  <span class="small muted">{about}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <p class="small muted">
            Effective since {time(draft.base.activity_privacy_since)}. Every member can see this.
          </p>
        </section>
      </div>
      {conflict ? (
        <Conflict
          base={draft.base.settings}
          theirs={conflict.theirs.settings}
          mine={patch}
          onResolved={(patch) => {
            clear()
            set({
              base: conflict.theirs,
              etag: conflict.etag,
              text: textOf(merged(conflict.theirs.settings, patch)),
              idle: changes.idle_window_minutes ?? conflict.theirs.idle_window_minutes,
              privacy: changes.activity_privacy ?? conflict.theirs.activity_privacy,
            })
            setConflict(undefined)
          }}
        />
      ) : (
        failure && <FailureNote failure={failure} />
      )}
      <section class="card stack tight" aria-label="Pending changes">
        {values && isChanged && !conflict && (
          <>
            <h2>Pending changes</h2>
            {changes.settings && <Diff before={draft.base.settings} after={values} />}
            {changes.idle_window_minutes !== undefined && (
              <p>
                Idle window: {draft.base.idle_window_minutes} to {changes.idle_window_minutes} minutes
              </p>
            )}
            {changes.activity_privacy && (
              <p>
                {changes.activity_privacy === 'team'
                  ? 'From now on, no one sees another person’s numbers, including past ones.'
                  : 'Admins will see people by name, for days from now on. Earlier days stay hidden.'}
              </p>
            )}
          </>
        )}
        <div class="row">
          <button
            type="submit"
            class={conflict ? '' : 'primary'}
            aria-disabled={busy || !values || !isChanged || conflict !== undefined}
          >
            Save settings
          </button>
          {isChanged && (
            <button type="button" onClick={() => edit(draftOf(draft.base, draft.etag))}>
              Discard changes
            </button>
          )}
          <span role="status" class="muted">
            {saved ? 'Saved.' : isChanged ? '' : 'No changes.'}
          </span>
        </div>
      </section>
    </Form>
  )
}

const levels = [
  [
    'named',
    'Admins, by name',
    'Admins see each member’s daily numbers, and hours only as sums over at least 2 other people. These numbers are live, so an admin who keeps reloading can tell when a person works. “Only that person” prevents that.',
  ],
  [
    'team',
    'Only that person',
    'Admins see whole weeks of the team, and only numbers that cover enough people. This includes all past activity. If you switch back, the days recorded until then stay hidden. The level applies to this workspace: an admin of several workspaces with the same people can compare them, and people who cooperate can subtract what they know of themselves.',
  ],
] as const

/** Conflicting changes by two admins. The admin chooses a value for each key. */
const Conflict = (props: {
  base: Values
  theirs: Values
  mine: Values
  onResolved: (patch: Values) => void
}) => {
  const { base, theirs, mine } = props
  const changed = patchOf(base, theirs)
  const both = Object.keys(mine).filter((key) => key in changed)
  const [chosen, choose] = useState<Record<string, 'theirs' | 'mine'>>({})
  const resolve = () =>
    props.onResolved(Object.fromEntries(Object.entries(mine).filter(([key]) => chosen[key] !== 'theirs')))
  const write = (value: unknown) =>
    value === undefined || value === null ? 'removed' : JSON.stringify(value)
  return (
    <section class="note fault stack tight" role="alert" aria-label="Conflict">
      <h2>Conflicting changes</h2>
      <p>
        Another admin saved changes first. Your input is kept.{' '}
        {both.length > 0 ? 'You both changed these keys:' : 'You changed different settings.'}
      </p>
      {both.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Before</th>
                <th scope="col">Theirs</th>
                <th scope="col">Yours</th>
              </tr>
            </thead>
            <tbody>
              {both.map((key) => (
                <tr key={key}>
                  <th scope="row" class="mono">
                    {key}
                  </th>
                  <td class="mono">{write(base[key])}</td>
                  {(['theirs', 'mine'] as const).map((side) => (
                    <td key={side}>
                      <label class="check mono">
                        <input
                          type="radio"
                          name={key}
                          checked={(chosen[key] ?? 'mine') === side}
                          onChange={() => choose({ ...chosen, [key]: side })}
                        />
                        {write(side === 'mine' ? mine[key] : theirs[key])}
                      </label>
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h3>Their changes</h3>
      <Diff before={base} after={theirs} />
      <div>
        <button type="button" class="primary" onClick={resolve}>
          Apply my changes
        </button>
      </div>
    </section>
  )
}

const Rename = () => {
  const space = useSpace()
  const me = useMe()
  const [name, type] = useState(space.name)
  const { busy, failure, act } = useAct()
  return (
    <section class="card stack tight" aria-labelledby="rename">
      <h2 id="rename">Name</h2>
      <Form
        class="row"
        onSubmit={() => {
          act(async () => {
            await call('PATCH /api/team/workspaces/{id}', { path: { id: space.id }, body: { name } })
            announce('Workspace renamed')
            me.again()
          })
        }}
      >
        <input
          class="grow"
          aria-label="Workspace name"
          required
          maxLength={100}
          value={name}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <button type="submit" aria-disabled={busy || name === space.name}>
          Rename workspace
        </button>
      </Form>
      {failure && <FailureNote failure={failure} />}
    </section>
  )
}

const DeleteSpace = () => {
  const space = useSpace()
  const [asking, ask] = useState(false)
  const { busy, failure, act } = useAct()
  return (
    <section class="card stack tight" aria-labelledby="delete">
      <h2 id="delete">Deletion</h2>
      <p class="muted">
        Deletes the settings, overrides, snapshots, activity and audit trail for all members.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => ask(true)}>
          Delete workspace
        </button>
      </div>
      {asking && (
        <Confirm
          title={`Delete ${space.name}?`}
          action="Delete workspace"
          word={space.name}
          busy={busy}
          failure={failure}
          onNo={() => ask(false)}
          onYes={async () => {
            const done = await act(() => call('DELETE /api/team/workspaces/{id}', { path: { id: space.id } }))
            if (done) location.assign('/')
          }}
        >
          <p>
            This deletes the workspace and all its data for {people(space.member_count)}. You cannot undo
            this.
          </p>
        </Confirm>
      )}
    </section>
  )
}
