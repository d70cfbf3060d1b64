import { useEffect, useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { limits } from '../../schemas/limits.js'
import { call, useAction, useRead } from '../api.js'
import { bytes, count, people } from '../format.js'
import { History, WarningList, warningsByKey } from '../history.js'
import { useImpact } from '../impact.js'
import { Diff, merged, patchOf, same, sizeOf, type Values } from '../json.js'
import { useWorkspace } from '../me.js'
import { useNew } from '../query.js'
import { ReasonField, reasonIn } from '../reason.js'
import { useSecretQuestion } from '../secrets.js'
import { SettingKey } from '../setting-key.js'
import { type Editing, editingOf, FaultyField, readEditing, SettingsEditor } from '../settings-editor.js'
import { type Column, FailureNote, Form, Loaded, SortedTable, showAtOnce } from '../ui.js'
import { saveSettings } from '../undo.js'
import { Unsaved } from '../unsaved.js'
import { ConfigurationFile } from './configuration-file.js'
import { type Imported, ImportSettings, LeftOutList } from './import-settings.js'

type State = AnswerOf<'GET /api/team/workspaces/{id}/settings'>

export const EditorSettings = () => {
  const workspace = useWorkspace()
  const path = { id: workspace.id }
  const response = useRead('GET /api/team/workspaces/{id}/settings', { path })
  const versions = useRead('GET /api/team/workspaces/{id}/settings/versions', { path })
  const isAdmin = workspace.role === 'admin'
  const again = () => {
    response.again()
    versions.again()
  }
  return (
    <>
      <ManagedBy author={versions.data?.versions[0]?.created_by} />
      <Loaded response={response} height={600}>
        {(state) =>
          isAdmin ? (
            <Editor state={state} etag={response.etag} again={again} />
          ) : (
            <section class="card stack tight" aria-label="Editor settings">
              <p class="muted">Every member’s editor uses these settings. Only admins can change them.</p>
              <p>Idle window: {state.idle_window_minutes} minutes</p>
              <SettingsList state={state} />
              <WarningList warnings={state.warnings ?? []} stored />
            </section>
          )
        }
      </Loaded>
      <History
        versions={versions}
        useVersion={(version) =>
          useRead(
            'GET /api/team/workspaces/{id}/settings/versions/{version}',
            version === undefined ? undefined : { path: { ...path, version } },
          )
        }
        mayRestore={isAdmin}
        restore={async (body, etag = response.etag) => {
          const answer = await call('POST /api/team/workspaces/{id}/settings/restore', {
            path,
            headers: { 'If-Match': etag },
            body,
          })
          again()
          return answer
        }}
        effect={`The settings, locks and idle window change for ${people(workspace.member_count)}. The privacy level doesn’t change.`}
        otherwise="Privacy level changed"
      />
      <ConfigurationFile isAdmin={isAdmin} again={again} />
    </>
  )
}

/** The history names keys as `key ci`; no login has a space. */
const ManagedBy = ({ author }: { author: string | null | undefined }) =>
  author?.startsWith('key ') ? (
    <p class="note">
      Managed by key <em>{author.slice('key '.length)}</em>. Changes here are overwritten by the next run.
    </p>
  ) : null

interface Row {
  key: string
  value: string
  kind: string
}

const columns: Column<Row>[] = [
  { name: 'key', title: 'Key', by: ({ key }) => key, cell: ({ key }) => <SettingKey name={key} /> },
  { name: 'value', title: 'Value', cell: ({ value }) => <span class="mono">{value}</span> },
  { name: 'kind', title: 'Overrides', by: ({ kind }) => kind, cell: ({ kind }) => kind },
]

/** The settings for those who can't change them. */
const SettingsList = ({ state: { settings, locked, merged } }: { state: State }) => {
  const rows = Object.entries(settings).map(([key, value]) => ({
    key,
    value: JSON.stringify(value),
    kind: locked.includes(key) ? 'Locked' : merged.includes(key) ? 'Add to it' : 'Replace it',
  }))
  return (
    <SortedTable
      caption="Editor settings"
      rows={rows}
      columns={columns}
      keyOf={({ key }) => key}
      searchText={({ key, value }) => `${key} ${value}`}
      first=""
      empty="No settings yet."
    />
  )
}

/** An admin's unsaved changes, and the state that they started from. */
interface Draft extends Editing {
  base: State
  etag: string | undefined
  locked: string[]
  merged: string[]
  idle: number
}

const draftOf = (state: State, etag: string | undefined): Draft => ({
  ...editingOf(state.settings),
  base: state,
  etag,
  locked: state.locked,
  merged: state.merged,
  idle: state.idle_window_minutes,
})

/** Lists and objects of ordinary keys. */
const isMergeable = (key: string, value: unknown) =>
  typeof value === 'object' && value !== null && !key.startsWith('[')

/** Which lists and objects overrides add to, rather than replace. */
const Merges = (props: {
  values: Values
  locked: string[]
  merged: string[]
  onMerge: (merged: string[]) => void
}) => {
  const { values, locked, merged, onMerge } = props
  const keys = Object.keys(values).filter((key) => isMergeable(key, values[key]) && !locked.includes(key))
  if (keys.length === 0) return null
  return (
    <details open={merged.length > 0}>
      <summary>
        Merged keys ({count(merged.length)} of {count(keys.length)} lists and objects)
      </summary>
      <p class="small muted">An override adds to a merged list or object, and doesn’t replace it.</p>
      {keys.map((key) => (
        <label key={key} class="check">
          <input
            type="checkbox"
            checked={merged.includes(key)}
            onChange={({ currentTarget }) =>
              onMerge(currentTarget.checked ? [...merged, key] : merged.filter((one) => one !== key))
            }
          />{' '}
          Merge <SettingKey name={key} />
        </label>
      ))}
    </details>
  )
}

const isUntouched = ({ base, etag, ...draft }: Draft) => {
  const fresh = draftOf(base, etag)
  return Object.entries(draft).every(([name, value]) => same(value, fresh[name as keyof Draft]))
}

const Editor = ({ state, etag, again }: { state: State; etag: string | undefined; again: () => void }) => {
  const workspace = useWorkspace()
  const [draft, set] = useState(() => draftOf(state, etag))
  const [conflict, setConflict] = useState<{ theirs: State; etag: string | undefined }>()
  const [saved, setSaved] = useState<State>()
  const [importing, setImporting] = useNew('import')
  const [imported, setImported] = useState<Imported>()
  const { busy, failure, act, clear } = useAction()
  const secrets = useSecretQuestion()
  const edit = (change: Partial<Draft>) => {
    setSaved(undefined)
    set((old) => ({ ...old, ...change }))
  }
  const values = readEditing(draft, {})
  const patch = values ? patchOf(draft.base.settings, values) : {}
  // Removing a key removes its lock.
  const locked = values ? draft.locked.filter((key) => key in values) : draft.locked
  const [locks, unlocks] = [without(locked, draft.base.locked), without(draft.base.locked, locked)]
  // So does removing or locking a key, for its merge.
  const combined = draft.merged.filter(
    (key) => !locked.includes(key) && (!values || isMergeable(key, values[key])),
  )
  const [merges, splits] = [without(combined, draft.base.merged), without(draft.base.merged, combined)]
  const changes = {
    ...(Object.keys(patch).length > 0 && { settings: patch }),
    ...(locks.length + unlocks.length > 0 && { locked }),
    ...(merges.length + splits.length > 0 && { merged: combined }),
    ...(draft.idle !== draft.base.idle_window_minutes && { idle_window_minutes: draft.idle }),
  }
  const isChanged = Object.keys(changes).length > 0
  const isDirty = isChanged || !values
  const keys = [...new Set([...Object.keys(patch), ...locks, ...unlocks, ...merges, ...splits])]
  const impact = useImpact(keys.length > 0)
  const rules = { locked, merged: combined }
  const path = { id: workspace.id }
  useEffect(() => {
    // A new state arrived, such as a restored version. Input is never replaced.
    set((old) => (old.etag === etag || !isUntouched(old) ? old : draftOf(state, etag)))
  }, [etag])

  const save = (given: FormData) =>
    act(async () => {
      try {
        const { data, etag } = await saveSettings(workspace.id, draft.base, draft.etag, {
          ...changes,
          ...reasonIn(given),
        })
        set(draftOf(data, etag))
        setConflict(undefined)
        setImported(undefined)
        setSaved(data)
        again()
      } catch (error) {
        if ((error as { code: string }).code !== 'version_conflict') throw error
        const theirs = await call('GET /api/team/workspaces/{id}/settings', { path })
        setConflict({ theirs: theirs.data, etag: theirs.etag })
        throw error
      }
    })

  return (
    <>
      {/* Outside of the form, because its dialog contains another form. */}
      <Unsaved isChanged={isDirty} />
      {secrets.dialog}
      {importing && values && (
        <ImportSettings
          settings={values}
          onClose={() => setImporting(false)}
          onImported={(result) => {
            edit(editingOf(result.settings))
            setImported(result)
            setImporting(false)
          }}
        />
      )}
      <Form
        class="stack"
        onSubmit={(given) => values && secrets.saveOrAsk(draft.base.settings, values, () => save(given))}
      >
        <div class="lead">
          <section class="card stack tight" aria-label="Editor settings">
            {/* The group headings below need one above them. */}
            <h2 class="away">Editor settings</h2>
            <SettingsEditor
              label="Editor settings"
              editing={draft}
              onEdit={edit}
              locked={locked}
              onLock={(locked) => edit({ locked })}
              wrong={warningsByKey(draft.base.warnings ?? [], patch)}
            >
              {values &&
                2 * sizeOf(values) > limits.settings_bytes &&
                `${bytes(sizeOf(values))} of ${bytes(limits.settings_bytes)} used`}
            </SettingsEditor>
            {values && (
              <Merges
                values={values}
                locked={locked}
                merged={combined}
                onMerge={(merged) => edit({ merged })}
              />
            )}
            <div>
              <button type="button" aria-disabled={!values} onClick={() => values && setImporting(true)}>
                Import settings.json…
              </button>
            </div>
            <p class="small muted">
              A locked key has this value in every repository. A <span class="mono">[python]</span> block
              still wins for Python unless you lock it too. To set a value for one repository, open{' '}
              <a href={`/w/${workspace.id}/repos`}>Repositories</a>.
            </p>
          </section>
          <div class="stack beside">
            <section class="card stack tight" aria-label="Pending changes">
              <h2>Pending changes</h2>
              <FaultyField editing={draft} />
              {values && isChanged && !conflict && (
                <>
                  {keys.length > 0 && <p>{impact.reach(keys, rules) ?? 'Checking who is affected…'}</p>}
                  {changes.settings && (
                    <Diff
                      before={draft.base.settings}
                      after={values}
                      about={(key) => impact.about(key, rules, locks.includes(key))}
                    />
                  )}
                  {locks.map((key) => (
                    <p key={key}>
                      Lock <SettingKey name={key} />.{' '}
                      {!(key in patch) && <span class="muted">{impact.about(key, rules, true)}</span>}
                    </p>
                  ))}
                  {unlocks.map((key) => (
                    <p key={key}>
                      Unlock <SettingKey name={key} />. Overrides can change it.
                    </p>
                  ))}
                  {merges.map((key) => (
                    <p key={key}>
                      Merge <SettingKey name={key} />. Overrides add to it.
                    </p>
                  ))}
                  {splits.map((key) => (
                    <p key={key}>
                      Stop merging <SettingKey name={key} />.{' '}
                      {locked.includes(key) ? 'It is locked.' : 'Overrides replace it.'}
                    </p>
                  ))}
                  {changes.idle_window_minutes !== undefined && (
                    <p>
                      Idle window: {draft.base.idle_window_minutes} to {changes.idle_window_minutes} minutes
                    </p>
                  )}
                </>
              )}
              {imported && <LeftOutList imported={imported} />}
              {isChanged && <ReasonField />}
              {!isDirty && <p class="muted">Nothing to review yet</p>}
              {conflict && (
                <Conflict
                  base={draft.base.settings}
                  theirs={conflict.theirs.settings}
                  mine={patch}
                  onResolved={(patch) => {
                    clear()
                    const settings = merged(conflict.theirs.settings, patch)
                    const theirLocks = without(conflict.theirs.locked, unlocks)
                    const theirMerges = without(conflict.theirs.merged, splits)
                    set({
                      ...editingOf(settings),
                      base: conflict.theirs,
                      etag: conflict.etag,
                      locked: [...theirLocks, ...without(locks, theirLocks)],
                      merged: [...theirMerges, ...without(merges, theirMerges)],
                      idle: changes.idle_window_minutes ?? conflict.theirs.idle_window_minutes,
                    })
                    setConflict(undefined)
                  }}
                />
              )}
              {saved?.warnings && saved.version === draft.base.version && (
                <div class="note" role="alert" ref={showAtOnce}>
                  <WarningList warnings={saved.warnings} />
                </div>
              )}
            </section>
            <section class="card stack" aria-label="Activity">
              <div class="stack tight">
                <label class="field">
                  Idle window in minutes
                  <input
                    type="number"
                    min={1}
                    max={limits.idle_window_minutes_max}
                    required
                    value={draft.idle}
                    aria-describedby="idle-help"
                    onInput={(event) => edit({ idle: event.currentTarget.valueAsNumber })}
                  />
                </label>
                <p id="idle-help" class="small muted">
                  Editors stop counting after this time without a key press or click. They use at least 5 and
                  at most 10 minutes.
                </p>
              </div>
            </section>
          </div>
        </div>
        <div class="saving">
          <div class={isDirty ? 'unsaved stack tight' : 'stack tight'}>
            {failure && !conflict && <FailureNote failure={failure} />}
            <div class="row">
              <button
                type="submit"
                class={conflict ? '' : 'primary'}
                aria-disabled={busy || !values || !isChanged || conflict !== undefined}
              >
                Save settings
              </button>
              {isDirty && (
                <button
                  type="button"
                  onClick={() => {
                    edit(draftOf(draft.base, draft.etag))
                    setImported(undefined)
                  }}
                >
                  Discard changes
                </button>
              )}
              <span role="status" class="muted">
                {isDirty ? 'Unsaved changes' : 'No changes'}
              </span>
            </div>
          </div>
        </div>
      </Form>
    </>
  )
}

const without = (all: readonly string[], some: readonly string[]) => all.filter((one) => !some.includes(one))

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
    <section class="note fault stack tight" role="alert" aria-label="Conflict" ref={showAtOnce}>
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
                  <th scope="row">
                    <SettingKey name={key} />
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
