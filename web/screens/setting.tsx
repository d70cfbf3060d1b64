/** One setting of a workspace: its value, where it applies, and its history. */
import type { AnswerOf } from '../../client/src/operations.js'
import { isKeptByEditor } from '../../schemas/kept-settings.js'
import { limits } from '../../schemas/limits.js'
import { own } from '../../schemas/own.js'
import { isBlock } from '../../schemas/settings-keys.js'
import { repoSettingsAddress } from '../addresses.js'
import { type ReadState, useAction, useRead } from '../api.js'
import { count, time } from '../format.js'
import { FromTo, keyOf, WarningList } from '../history.js'
import { useImpact, valuesOf } from '../impact.js'
import { same } from '../json.js'
import { useWorkspace } from '../me.js'
import { propertiesOf } from '../schema.js'
import { useDescribed } from '../settings-editor.js'
import { About } from '../settings-form.js'
import { Card, FailureNote, Loaded, RepoName, SortedTable } from '../ui.js'
import { saveSettings } from '../undo.js'

type State = AnswerOf<'GET /api/team/workspaces/{id}/settings'>
type Versions = AnswerOf<'GET /api/team/workspaces/{id}/settings/versions'>
type Version = Versions['versions'][number]
type Setting = NonNullable<Version['setting']>

export const SettingPage = ({ name }: { name: string }) => {
  const { id } = useWorkspace()
  const path = { id }
  const response = useRead('GET /api/team/workspaces/{id}/settings', { path })
  const versions = useRead('GET /api/team/workspaces/{id}/settings/versions', { path, query: { key: name } })
  return (
    <Loaded response={response} height={320}>
      {(state) => (
        <>
          <div class="two">
            <Value {...{ name, state }} versions={versions.data?.versions ?? []} />
            <Reach {...{ name, state }} />
          </div>
          <History
            {...{ name, state, versions }}
            etag={response.etag}
            again={() => {
              response.again()
              versions.again()
            }}
          />
        </>
      )}
    </Loaded>
  )
}

const isSameValue = (one: Setting, other: Setting): boolean =>
  one.is_set === other.is_set && (!one.is_set || ('value' in one && same(one.value, other.value)))

/** The version that set the current value, and not only its lock. */
const lastSetIn = (versions: Version[]): Version | undefined =>
  versions.find(({ setting }, index) => {
    const before = versions[index + 1]?.setting
    return setting && (!before || !isSameValue(setting, before))
  })

const Author = ({ created_by, created_at }: Version) => (
  <>
    {created_by === null ? 'author not recorded' : <bdi>{created_by}</bdi>}, {time(created_at)}
  </>
)

const Value = ({ name, state, versions }: { name: string; state: State; versions: Version[] }) => {
  const { id, role } = useWorkspace()
  const { schema, described } = useDescribed()
  const isSet = Object.hasOwn(state.settings, name)
  const set = lastSetIn(versions)
  const property = own(propertiesOf(described), name)
  const warnings = (state.warnings ?? []).filter(({ path }) => keyOf(path) === name)
  return (
    <Card id="value" title="Value">
      <pre class="diff">{isSet ? JSON.stringify(state.settings[name], null, 2) : 'Not set'}</pre>
      {set && (
        <p>
          {isSet ? 'Set by' : 'Removed by'} <Author {...set} />
          {set.reason !== null && `: ${set.reason}`}
        </p>
      )}
      {isSet && (
        <p>
          {state.locked.includes(name)
            ? 'Locked: no repository can override it.'
            : state.merged.includes(name)
              ? 'Merged: an override adds to it.'
              : 'An override replaces it in its repository.'}
        </p>
      )}
      <WarningList warnings={warnings} stored />
      {!isSet && isKeptByEditor(name) && (
        <p>Editors don’t apply it: they restrict it, or keep it for the application or the machine.</p>
      )}
      {isBlock(name) ? (
        <p class="small muted">Settings for files in these languages.</p>
      ) : (
        (property || (schema.data && !schema.isNone)) && (
          <div class="small">
            <About schema={property} />
          </div>
        )
      )}
      {role === 'admin' && (
        <div class="row">
          <a class="button" href={`/w/${id}/settings?setting=${encodeURIComponent(name)}`}>
            Edit
          </a>
          <a href={`/w/${id}/settings/audit?key=${encodeURIComponent(name)}`}>View in audit</a>
        </div>
      )}
    </Card>
  )
}

interface Row {
  repo: string
  owner: string
  /** Where in the override, unless it's the setting itself: `[python]`. */
  values: string[]
  /** Whether the workspace's value doesn't apply there. */
  replaces: boolean
}

const NAMED = 3
const listed = new Intl.ListFormat('en-GB')

const Reach = ({ name, state }: { name: string; state: State }) => {
  const workspace = useWorkspace()
  const impact = useImpact(true)
  const members = useRead('GET /api/team/workspaces/{id}/members', {
    path: { id: workspace.id },
    query: { limit: NAMED },
  })
  const isSet = Object.hasOwn(state.settings, name)
  const rows: Row[] = impact.overridesOf(name).map(({ owner, repo, settings }) => ({
    owner,
    repo,
    values: valuesOf(settings, name),
    replaces: Object.hasOwn(settings, name),
  }))
  const isFixed = state.locked.includes(name) || state.merged.includes(name)
  const others = isFixed ? [] : rows.filter(({ replaces }) => replaces)
  const link = ({ owner, repo }: Row) => (
    <a href={repoSettingsAddress(workspace.id, { owner, repo })}>
      <RepoName repo={`${owner}/${repo}`} />
    </a>
  )
  const { known } = impact
  const logins = members.data?.members.map(({ login }) => login) ?? []
  const more = workspace.member_count - logins.length
  return (
    <Card id="reach" title="Where it applies">
      <Loaded response={impact.response} height={160}>
        {() => (
          <>
            <p>
              {!isSet ? (
                rows.length === 0 ? (
                  'No repository sets it.'
                ) : (
                  `${rows.length === 1 ? '1 repository sets' : `${count(rows.length)} repositories set`} it.`
                )
              ) : known === 0 ? (
                'Applies to each repository once someone works in it.'
              ) : (
                <>
                  Applies in {count(known - others.length)} of {impact.atLeast}
                  {known === 1 ? '1 repository' : `${count(known)} repositories`}
                  {others.length > 0 && ', not in '}
                  {others.slice(0, NAMED).map((row, index) => (
                    <>
                      {index > 0 && (index === others.length - 1 ? ' and ' : ', ')}
                      {link(row)}
                    </>
                  ))}
                  {others.length > NAMED && ` and ${count(others.length - NAMED)} more`}.
                </>
              )}
            </p>
            {rows.length > 0 && (
              <SortedTable
                caption="Overrides of it"
                rows={rows}
                columns={[
                  { name: 'repo', title: 'Repository', by: ({ repo }) => repo, cell: link },
                  {
                    name: 'value',
                    title: 'Override',
                    cell: ({ values }) => (
                      <>
                        {values.map((value) => (
                          <div key={value} class="mono">
                            {value}
                          </div>
                        ))}
                        {state.locked.includes(name) && <span class="small muted">No effect: locked</span>}
                      </>
                    ),
                  },
                ]}
                keyOf={({ owner, repo }) => `${owner}/${repo}`}
                searchText={({ owner, repo, values }) => `${owner}/${repo} ${values.join(' ')}`}
                first="repo"
                ascending
                empty=""
              />
            )}
            {logins.length > 0 && (
              <p>
                Reaches <bdi>{listed.format([...logins, ...(more > 0 ? [`${count(more)} more`] : [])])}</bdi>.{' '}
                <a href={`/w/${workspace.id}/people`}>View people</a>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}

const write = (setting: Setting | undefined): string =>
  !setting?.is_set ? 'not set' : 'value' in setting ? JSON.stringify(setting.value) : 'a long value'

const NONE: Setting = { is_set: false, locked: false, merged: false }

/** What a version changed, such as `5112 → 5113, locked`. */
const Change = ({ after, before }: { after: Setting; before: Setting }) => {
  const isSame = isSameValue(after, before)
  const others = [
    after.locked !== before.locked && (after.locked ? 'locked' : 'unlocked'),
    after.merged !== before.merged && (after.merged ? 'merged' : 'no longer merged'),
  ].filter(Boolean)
  return (
    <>
      {!isSame && <FromTo before={write(before)} after={write(after)} />}
      {!isSame && others.length > 0 && ', '}
      {others.join(', ')}
    </>
  )
}

const History = (props: {
  name: string
  state: State
  versions: ReadState<Versions>
  etag: string | undefined
  again: () => void
}) => {
  const { name, state, versions, etag, again } = props
  const { id, role } = useWorkspace()
  const { act, busy, failure } = useAction()
  const oldestKept = Math.max(1, state.version - limits.settings_versions_kept + 1)
  const keysWith = (keys: string[], isIn: boolean) => [
    ...keys.filter((key) => key !== name),
    ...(isIn ? [name] : []),
  ]
  const goBackTo = (setting: Setting) =>
    act(async () => {
      await saveSettings(id, state, etag, {
        settings: { [name]: setting.is_set ? setting.value : null },
        ...(state.locked.includes(name) !== setting.locked && {
          locked: keysWith(state.locked, setting.locked),
        }),
        ...(state.merged.includes(name) !== setting.merged && {
          merged: keysWith(state.merged, setting.merged),
        }),
      })
      again()
    })
  return (
    <Card id="history" title="History">
      {failure && <FailureNote failure={failure} again={again} />}
      <Loaded response={versions} height={160}>
        {({ versions }) => (
          <div class="scroll" hidden={versions.length === 0}>
            <table>
              <caption class="away">Changes, newest first</caption>
              <thead>
                <tr>
                  <th scope="col">Change</th>
                  <th scope="col">By</th>
                  {role === 'admin' && <th scope="col">Actions</th>}
                </tr>
              </thead>
              <tbody>
                {versions.map((version, index) => {
                  const { setting = NONE, reason } = version
                  const isOldest = version.version === oldestKept && oldestKept > 1
                  const before = versions[index + 1]?.setting ?? NONE
                  const target = index === 0 ? before : setting
                  const canGoBack = index === 0 ? !isOldest : true
                  return (
                    <tr key={version.version}>
                      <th scope="row" class="mono">
                        {isOldest ? (
                          `${write(setting)} in the oldest kept version`
                        ) : (
                          <Change after={setting} before={before} />
                        )}
                      </th>
                      <td>
                        <Author {...version} />
                        {reason !== null && <div class="small">{reason}</div>}
                      </td>
                      {role === 'admin' && (
                        <td>
                          {canGoBack && (!target.is_set || 'value' in target) && (
                            <button
                              type="button"
                              class="plain act"
                              aria-disabled={busy}
                              onClick={() => goBackTo(target)}
                            >
                              {index === 0 ? 'Undo' : 'Restore'}
                              <span class="away">
                                {' '}
                                to {write(target)}
                                {target.locked && ', locked'}
                                {target.merged && ', merged'}
                              </span>
                            </button>
                          )}
                        </td>
                      )}
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      {versions.data?.versions.length === 0 && (
        <p class="muted">No change of it among the last {count(limits.settings_versions_kept)} versions.</p>
      )}
    </Card>
  )
}
