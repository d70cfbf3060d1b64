import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import type { AnswerOf } from '../../client/src/operations.js'
import { isLocked, locksOf, settingsIn } from '../../schemas/settings-keys.js'
import { repoAddress } from '../addresses.js'
import { call, useAction, useRead } from '../api.js'
import { people, time } from '../format.js'
import { History, WarningList } from '../history.js'
import { Diff, same, type Values } from '../json.js'
import { useWorkspace } from '../me.js'
import { nameOf, useProjects } from '../projects.js'
import { rangeOf, selectedRange, useComparison, useUrlQuery } from '../query.js'
import { RangeChoice, RangeProblem } from '../range.js'
import { ReasonField, reasonIn } from '../reason.js'
import { useSecretQuestion } from '../secrets.js'
import { SettingKey, SettingKeys } from '../setting-key.js'
import { type Editing, editingOf, FaultyField, readEditing, SettingsEditor } from '../settings-editor.js'
import { useTitle } from '../title.js'
import { toast } from '../toast.js'
import {
  Card,
  type Column,
  Confirm,
  FailureNote,
  FailureOf,
  Form,
  Loaded,
  NumbersSkeleton,
  Skeleton,
  SortedTable,
} from '../ui.js'
import { undoing } from '../undo.js'
import { Unsaved } from '../unsaved.js'
import { MoveSettings } from './move-settings.js'
import { PushedSettings } from './snapshots.js'
import { Figures, metrics, OWN_METRICS, TeamNumbers, TrendCard, useSummary } from './team.js'

type Effective = AnswerOf<'GET /api/team/effective-config'>
type State = AnswerOf<'GET /api/team/workspaces/{id}/settings'>
type Override = AnswerOf<'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}'>

export const Repository = () => {
  const workspace = useWorkspace()
  const { params } = useRoute()
  const { query } = useUrlQuery()
  const [owner, repo] = [params.owner ?? '', params.repo ?? '']
  const name = `${owner}/${repo}`
  useTitle(name)
  const isAdmin = workspace.role === 'admin'
  // Members come here to see why they have a value, and old links to versions don't name the settings page.
  const isSettings = params.page ? params.page === 'settings' : !isAdmin || query.newer !== undefined
  const address = repoAddress(workspace.id, { owner, repo })
  const tab = (title: string, href: string, isCurrent: boolean) => (
    <li>
      <a href={href} aria-current={isCurrent ? 'page' : undefined}>
        {title}
      </a>
    </li>
  )
  const tabs = (
    <nav class="pages" aria-label="Repository">
      <ul>
        {tab('Activity', isAdmin ? address : `${address}/activity`, !isSettings)}
        {tab('Settings', `${address}/settings`, isSettings)}
        {isAdmin && workspace.activity_privacy === 'named' && (
          <li>
            <a href={`/w/${workspace.id}/settings/integrations?repo=${encodeURIComponent(name)}#deliveries`}>
              Webhook deliveries
            </a>
          </li>
        )}
      </ul>
    </nav>
  )
  if (!isSettings) {
    const Numbers = isAdmin && !workspace.personal ? TeamNumbers : OwnNumbers
    return <Numbers key={name} repo={name} links={tabs} />
  }
  return (
    <>
      <h1>
        <bdi>{name}</bdi>
      </h1>
      {tabs}
      <RepositorySettings key={name} owner={owner} repo={repo} />
    </>
  )
}

const RepositorySettings = ({ owner, repo }: { owner: string; repo: string }) => {
  const workspace = useWorkspace()
  const name = `${owner}/${repo}`
  const path = { id: workspace.id, owner, repo }
  const effective = useRead('GET /api/team/effective-config', {
    query: { repo: name, workspace: workspace.id },
  })
  const general = useRead('GET /api/team/workspaces/{id}/settings', { path: { id: workspace.id } })
  const { response: projects, projects: known, isComplete, isLoading } = useProjects()
  const project = known.find(
    (one) => one.workspace_id === workspace.id && nameOf(one).toLowerCase() === name.toLowerCase(),
  )
  // Reading an override that doesn't exist fails, so the list is read first. It may be too long to read fully.
  const mayHave = project || !isLoading ? projects.data && (project?.has_override ?? !isComplete) : undefined
  const response = useRead(
    'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}',
    mayHave ? { path } : undefined,
  )
  const isNone = mayHave === false || response.failure?.code === 'override_not_found'
  const override = isNone ? undefined : response.data
  /** Whether the page knows if there's an override. */
  const found = {
    data: isNone || response.data !== undefined || undefined,
    failure: isNone ? undefined : (projects.failure ?? response.failure),
    stale: false,
    again: projects.failure ? projects.again : response.again,
  }
  const versions = useRead(
    'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions',
    override ? { path } : undefined,
  )
  const again = () => {
    projects.again()
    effective.again()
    if (mayHave) {
      response.again()
      versions.again()
    }
  }
  const isAdmin = workspace.role === 'admin'
  const isCovered = effective.failure?.code !== 'not_a_member'
  return (
    <>
      <Card id="effective" title="Effective settings">
        {isCovered ? (
          <Loaded response={effective} height={240}>
            {(data) => (
              <Loaded response={general} height={240}>
                {(state) => <EffectiveSettings data={data} state={state} override={override} />}
              </Loaded>
            )}
          </Loaded>
        ) : (
          <p class="muted">
            No pattern covers this repository, so it records no activity and receives no settings.{' '}
            {isAdmin && <a href={`/w/${workspace.id}/settings/general`}>Edit patterns</a>}
          </p>
        )}
      </Card>
      <section class="card stack tight" aria-labelledby="override" hidden={!isCovered && !override}>
        <h2 id="override">Override</h2>
        {general.data ? (
          <Loaded response={found} height={120}>
            {() => (
              <OverrideSection
                {...{ path, name, override, isAdmin, again }}
                state={general.data as State}
                etag={response.etag}
              />
            )}
          </Loaded>
        ) : (
          // The section above already shows the failure.
          !general.failure && <Skeleton height={120} />
        )}
      </section>
      {override && (
        <History
          title="Override versions"
          versions={versions}
          useVersion={(version) =>
            useRead(
              'GET /api/team/workspaces/{id}/project-settings/{owner}/{repo}/versions/{version}',
              version === undefined ? undefined : { path: { ...path, version } },
            )
          }
          mayRestore={isAdmin}
          restore={async (body, etag = response.etag) => {
            const answer = await call(
              'POST /api/team/workspaces/{id}/project-settings/{owner}/{repo}/restore',
              { path, headers: { 'If-Match': etag }, body },
            )
            again()
            return answer
          }}
          effect={`The effective settings of ${name} change for ${people(workspace.member_count)}.`}
        />
      )}
      {(project ? project.version !== null : !isComplete && !isLoading) && (
        <PushedSettings owner={owner} repo={repo} workspaceId={workspace.id} />
      )}
      {isAdmin && isCovered && isNone && isComplete && !project?.synced && (
        <MoveSettings workspaceId={workspace.id} name={name} onMoved={again} />
      )}
    </>
  )
}

/** The caller's own numbers in a repository, for members and in personal workspaces. */
const OwnNumbers = (props: { repo: string; links: ComponentChildren }) => {
  const { repo } = props
  const workspace = useWorkspace()
  const { query, change } = useUrlQuery()
  const chosen = rangeOf(query)
  const filter = { workspace: workspace.id, repo }
  const response = useRead(
    'GET /api/team/dashboard/mine',
    chosen.problem ? undefined : { query: { ...filter, ...chosen.range } },
  )
  const { data } = response
  const compared = useComparison('GET /api/team/dashboard/mine', data, query.compare, filter)
  const { before: previous } = compared
  useSummary(response, `My activity in ${repo}`)
  const isEmpty = OWN_METRICS.every((name) => data?.totals[name] === 0)
  const shown = metrics.find(({ name }) => name === query.show && name !== 'active_members') ?? metrics[0]
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{repo}</bdi>
        </h1>
        <div class="row">
          <RangeChoice chosen={selectedRange(chosen, response)} />
        </div>
      </div>
      {props.links}
      {chosen.problem && <RangeProblem chosen={chosen} />}
      <FailureOf response={[response, ...compared.response]} />
      {chosen.problem ? null : data ? (
        <div class={response.stale ? 'stack stale' : 'stack'} aria-busy={response.stale}>
          <Figures
            data={data}
            only={OWN_METRICS}
            now={compared.now?.totals}
            previous={previous?.totals}
            shown={shown.name}
            onShow={(name) => change({ show: name === 'active_minutes' ? undefined : name })}
          />
          {isEmpty ? (
            <p class="note">You have no activity in this repository in the selected range.</p>
          ) : (
            <TrendCard
              name={`My ${shown.title.toLowerCase()}`}
              data={data}
              metric={shown}
              compared={compared}
              earlier={previous}
            />
          )}
        </div>
      ) : (
        !response.failure && <NumbersSkeleton />
      )}
    </>
  )
}

interface Row {
  key: string
  /** As JSON. Undefined if the override says that the key doesn't apply here. */
  value: string | undefined
  source: string
  hides: string
}

const json = (value: unknown) => JSON.stringify(value)

/** Every key with its source, and the values that it overrides. */
const rowsOf = (data: Effective, { settings }: State, override: Override | undefined): Row[] => {
  const set = override?.settings ?? {}
  const inWorkspace = (key: string) => `Workspace: ${json(settings[key])}`
  const rows = Object.entries(data.settings).map(([key, value]): Row => {
    const source = data.sources[key]
    const row = { key, value: json(value) }
    if (source === 'project')
      return { ...row, source: 'Override', hides: key in settings ? inWorkspace(key) : '' }
    if (source === 'merged') return { ...row, source: 'Workspace and override', hides: '' }
    const isHidden = key in set && !same(set[key], value)
    return {
      ...row,
      source: source === 'locked' ? 'Workspace, locked' : 'Workspace',
      hides: isHidden ? `Override: ${set[key] === null ? 'don’t apply here' : json(set[key])}` : '',
    }
  })
  const hidden = Object.keys(settings).filter((key) => !(key in data.settings))
  return [
    ...rows,
    ...hidden.map((key) => ({ key, value: undefined, source: 'Override', hides: inWorkspace(key) })),
  ]
}

const columns: Column<Row>[] = [
  {
    name: 'key',
    title: 'Key',
    by: ({ key }) => key,
    cell: ({ key }) => <SettingKey name={key} />,
  },
  {
    name: 'value',
    title: 'Value',
    cell: ({ value }) =>
      value === undefined ? <span class="muted">doesn’t apply here</span> : <span class="mono">{value}</span>,
  },
  {
    name: 'source',
    title: 'Source',
    by: ({ source }) => source,
    cell: ({ source, hides }) => (
      <>
        {source}
        {hides && <div class="small muted">{hides}</div>}
      </>
    ),
  },
]

const EffectiveSettings = (props: { data: Effective; state: State; override: Override | undefined }) => {
  const { data, state, override } = props
  const rows = rowsOf(data, state, override)
  return (
    <>
      <p class="muted">
        Matched pattern: <span class="mono">{data.matched_pattern}</span>. Idle window:{' '}
        {data.idle_window_minutes} minutes.
        {data.also_matched.length > 0 && ' Other workspaces of yours also match this repository.'}
      </p>
      <SortedTable
        caption="Effective settings"
        rows={rows}
        columns={columns}
        keyOf={({ key }) => key}
        searchText={({ key, value, source }) => `${key} ${value} ${source}`}
        first=""
        empty="No effective settings."
      />
      <WarningList warnings={data.warnings ?? []} stored />
    </>
  )
}

const SAVE = 'PUT /api/team/workspaces/{id}/project-settings/{owner}/{repo}'
const REMOVE = 'DELETE /api/team/workspaces/{id}/project-settings/{owner}/{repo}'

const OverrideSection = (props: {
  path: { id: string; owner: string; repo: string }
  name: string
  state: State
  override: Override | undefined
  etag: string | undefined
  isAdmin: boolean
  again: () => void
}) => {
  const { path, name, state, override, etag, isAdmin, again } = props
  const workspace = useWorkspace()
  const [editing, set] = useState<Editing & { before: Values; etag: string | undefined; isNew: boolean }>()
  const [saved, setSaved] = useState<Override>()
  const [removing, remove] = useState(false)
  const { busy, failure, act, clear } = useAction()
  const secrets = useSecretQuestion()
  const start = () => {
    clear()
    setSaved(undefined)
    const before = override?.settings ?? {}
    set({ ...editingOf(before), before, etag, isNew: !override })
  }
  const values = editing && readEditing(editing, { allowNull: true, locked: state.locked })
  const isChanged = editing !== undefined && (!values || !same(values, editing.before))
  const save = async (given: FormData) => {
    if (!values || !editing) return
    await act(async () => {
      const { data, etag: saved } = await call(SAVE, {
        path,
        body: { settings: values, ...reasonIn(given) },
        headers: editing.isNew ? { 'If-None-Match': '*' } : { 'If-Match': editing.etag },
      })
      toast(
        'Override saved',
        undoing(() =>
          editing.isNew
            ? call(REMOVE, { path, headers: { 'If-Match': saved } })
            : call(SAVE, { path, body: { settings: editing.before }, headers: { 'If-Match': saved } }),
        ),
      )
      setSaved(data)
      set(undefined)
      again()
    })
  }
  const about = (key: string) => {
    if (!values || !(key in state.settings)) return undefined
    if (!(key in values)) return `The workspace’s value applies again: ${json(state.settings[key])}`
    if (state.merged.includes(key) && !same(values[key], null))
      return `Adds to the workspace’s value: ${json(state.settings[key])}`
    if (values[key] === null) return `The workspace’s value won’t apply here: ${json(state.settings[key])}`
    return `Overrides the workspace’s value: ${json(state.settings[key])}`
  }
  if (editing) {
    return (
      <>
        {/* Outside of the form, because its dialog contains another form. */}
        <Unsaved isChanged={isChanged} />
        {secrets.dialog}
        <Form
          class="stack tight"
          onSubmit={(given) => values && secrets.saveOrAsk(editing.before, values, () => save(given))}
        >
          <IneffectiveKeys settings={editing.before} locked={state.locked} />
          <SettingsEditor
            label="Override"
            editing={editing}
            onEdit={(change) => set((old) => old && { ...old, ...change })}
            locked={state.locked}
            general={state.settings}
          >
            With null, a workspace key doesn’t apply here.
          </SettingsEditor>
          <FaultyField editing={editing} />
          {values && isChanged && (
            <>
              <h3>Pending changes</h3>
              <p>Affects 1 repository and {people(workspace.member_count)}.</p>
              <Diff before={editing.before} after={values} about={about} />
            </>
          )}
          <ReasonField />
          {failure && <FailureNote failure={failure} />}
          <div class="row">
            <button type="submit" class="primary" aria-disabled={busy || !values || !isChanged}>
              Save override
            </button>
            <button type="button" onClick={() => set(undefined)}>
              {isChanged ? 'Discard changes' : 'Cancel'}
            </button>
          </div>
        </Form>
      </>
    )
  }
  return (
    <>
      {override ? (
        <>
          <p class="muted">
            Version {override.version} by <bdi>{override.updated_by}</bdi>, {time(override.updated_at)}
          </p>
          <IneffectiveKeys settings={override.settings} locked={state.locked} />
        </>
      ) : (
        <p class="muted">No override. The workspace settings apply unchanged.</p>
      )}
      {saved?.warnings && (
        <div class="note" role="alert">
          <WarningList warnings={saved.warnings} />
        </div>
      )}
      {isAdmin && (
        <div class="row">
          <button type="button" onClick={start}>
            {override ? 'Edit override' : 'Create override'}
          </button>
          {override && (
            <button type="button" class="danger" onClick={() => remove(true)}>
              Remove override
            </button>
          )}
        </div>
      )}
      {removing && override && (
        <Confirm
          title={`Remove the override for ${name}?`}
          action="Remove override"
          onClose={() => remove(false)}
          onYes={async () => {
            await call(REMOVE, {
              path,
              headers: { 'If-Match': etag },
            })
            again()
            toast(
              'Override removed',
              undoing(() =>
                call(SAVE, {
                  path,
                  body: { settings: override.settings },
                  headers: { 'If-None-Match': '*' },
                }),
              ),
            )
          }}
        >
          <p>
            This repository goes back to the workspace settings. You can undo this for a few seconds, but you
            can’t restore the override’s history.
          </p>
        </Confirm>
      )}
    </>
  )
}

/** An override's keys that the workspace has locked since. */
const IneffectiveKeys = ({ settings, locked }: { settings: Values; locked: readonly string[] }) => {
  const locks = locksOf([...locked])
  const keys = [...settingsIn(settings)]
    .filter(({ key }) => isLocked(locks, key))
    .map(({ block, key }) => block ?? key)
  if (keys.length === 0) return null
  return (
    <p class="note">
      {keys.length === 1 ? '1 key has' : `${keys.length} keys have`} no effect, because the workspace locked{' '}
      {keys.length === 1 ? 'it' : 'them'}: <SettingKeys names={keys} />
    </p>
  )
}
