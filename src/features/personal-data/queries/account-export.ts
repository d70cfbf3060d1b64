/** An account export's items as JSON, a page at a time. */

import { countNames } from '../../../../schemas/counts.js'
import type { Db, Parameter } from '../../../platform/database/client.js'
import { type Statement, singleRow, statement, text, uuid } from '../../../platform/database/statement.js'
import { DELETED_USER } from '../../accounts/index.js'
import { hasActivity } from '../../minutes/index.js'
import { isAboutPeople } from '../../workspaces/index.js'

/** SQL: a timestamp in the format of every other response. */
export const at = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Cursor values that sort before every row. */
const starts = { uuid: DELETED_USER, text: '', date: '-infinity', int: -1 }

/** SQL: the minutes whose bits are set. */
const minutesOf = (bits: string, length: number) =>
  `array(select m from generate_series(0, ${length - 1}) m where get_bit(${bits}, m) = 1)`

/** SQL that pairs an array of names with an array of their bits. */
const bitsByName = (name: string, names: string, bits: string, length = 60) => `(
    select coalesce(json_agg(json_build_object('${name}', b.name, 'minutes', ${minutesOf('b.bits', length)})), '[]')
    from unnest(${names}, ${bits}) as b (name, bits)
  )`

interface List {
  statement: Statement<{ item: string; position: string }>
  start: Parameter[]
  rowsPerPage: number
}

/** A column, or SQL by name. Timestamps (`…_at`) get the format of every other response. */
type Field = string | Record<string, string>

const membersOf = (field: Field): [name: string, expression: string][] => {
  if (typeof field !== 'string') return Object.entries(field)
  return [[field.replace(/^\w+\./, ''), field.endsWith('_at') ? at(field) : field]]
}

/**
 * @param from the table and the condition. $1: rows per page; $2: the user, or what `from` says
 * @param key the columns that the list is ordered by, with their types
 */
export const list = (
  name: string,
  fields: Field[],
  from: string,
  key: Record<string, keyof typeof starts>,
  rowsPerPage = 2_000,
): List => {
  const columns = Object.keys(key).join(', ')
  const kinds = Object.values(key)
  const members = fields.flatMap(membersOf).map(([member, expression]) => `'${member}', ${expression}`)
  return {
    statement: statement(
      `export ${name}`,
      { item: text, position: text },
      `
  select json_build_object(${members.join(', ')})::text as item,
    json_build_array(${columns})::text as position
  from ${from} and (${columns}) > (${kinds.map((kind, index) => `$${index + 3}::${kind}`).join(', ')})
  order by ${columns} limit $1::int`,
    ),
    start: kinds.map((kind) => starts[kind]),
    rowsPerPage,
  }
}

/** Few, because settings are large. */
export const SETTINGS_PER_PAGE = 16

const REPO = { owner: 'owner_key', repo: 'repo_key' }
const repoKeys = { owner_key: 'text', repo_key: 'text' } as const
const versionKeys = { ...repoKeys, workspace_id: 'uuid', version: 'int' } as const

/** The lists of `AccountExport`, by their names there. $2: the user. */
export const listsOfUser = {
  addresses_recognized: list(
    'recognized addresses',
    ['confirmed_day'],
    'addresses where user_id = $2::uuid',
    { hmac: 'text' },
  ),
  memberships: list(
    'memberships',
    [
      { workspace: "json_build_object('id', w.id, 'name', w.name, 'personal', w.personal_of is not null)" },
      'm.role',
      'm.joined_at',
    ],
    'members m join workspaces w on w.id = m.workspace_id where m.user_id = $2::uuid',
    { 'm.workspace_id': 'uuid' },
  ),
  removals: list(
    'removals',
    ['workspace_id', 'removed_at'],
    `removals where removed_at > '-infinity' and user_id = $2::uuid`,
    { workspace_id: 'uuid' },
  ),
  organizations_linked: list(
    'linked organizations',
    ['workspace_id', { organization: 'name' }, 'linked_at'],
    'organizations where linked_by = $2::uuid',
    { workspace_id: 'uuid' },
  ),
  organization_memberships: list(
    'organization memberships',
    ['workspace_id', 'confirmed_at', 'left_at'],
    'organization_members where user_id = $2::uuid',
    { workspace_id: 'uuid' },
  ),
  invites: list(
    'invites',
    ['id', 'workspace_id', 'role', 'max_uses', 'used_count', 'created_at', 'expires_at', 'revoked_at'],
    'invites where created_by = $2::uuid',
    { id: 'uuid' },
  ),
  keys: list(
    'access keys',
    [
      'k.id',
      'k.workspace_id',
      'k.name',
      'k.scopes',
      'k.created_at',
      's.expires_at',
      's.revoked_at',
      'k.last_used_day',
    ],
    'access_keys k join key_secrets s on s.key_id = k.id where k.created_by = $2::uuid',
    { 'k.id': 'uuid' },
  ),
  settings_written: list(
    'snapshot versions by author',
    ['workspace_id', REPO, 'version', 'reason', 'created_at'],
    'snapshot_versions where created_by = $2::uuid',
    versionKeys,
  ),
  workspace_settings_written: list(
    'workspace settings versions by author',
    ['workspace_id', 'version', 'reason', 'created_at'],
    'workspace_settings_versions where created_by = $2::uuid',
    { workspace_id: 'uuid', version: 'int' },
  ),
  override_versions_written: list(
    'override versions by author',
    ['workspace_id', REPO, 'version', 'reason', 'created_at'],
    'override_versions where created_by = $2::uuid',
    versionKeys,
  ),
  overrides_written: list(
    'overrides last edited by person',
    ['workspace_id', 'owner', 'repo', 'reason', 'updated_at'],
    'overrides where updated_by = $2::uuid and updated_by_key is null',
    { ...repoKeys, workspace_id: 'uuid' },
  ),
  flushes: list(
    'flushes',
    ['flush_id', { answer: 'answer::json' }, 'created_at'],
    'flushes where user_id = $2::uuid',
    { flush_id: 'text' },
  ),
  heartbeat_hours: list(
    'heartbeat marks',
    [
      {
        hour: at('to_timestamp(hour * 3600.0)'),
        projects: bitsByName('project', 'projects', 'marks'),
        last_projects: bitsByName('project', 'projects', 'coalesce(leaves, marks)'),
        counted: bitsByName('workspace_id', 'counted_in', 'counted'),
        agent_projects: bitsByName('project', 'agent_projects', 'agent_marks'),
        agent_last_projects: bitsByName('project', 'agent_projects', 'coalesce(agent_leaves, agent_marks)'),
      },
    ],
    'heartbeat_hours where user_id = $2::uuid',
    { hour: 'int' },
    500,
  ),
  agent_minutes: list(
    'agent minutes',
    ['workspace_id', 'day', 'repo', { agent_minutes: 'minutes', agent_hours: 'hours' }, 'timezone'],
    'agent_activity where user_id = $2::uuid',
    { workspace_id: 'uuid', day: 'date', repo_key: 'text' },
  ),
  personal_minutes: list(
    'own time',
    ['day', { project: 'repo' }, 'minutes', 'hours', 'timezone'],
    'own_activity where user_id = $2::uuid and minutes > 0',
    { day: 'date', repo_key: 'text' },
    500,
  ),
  repositories: list('own repositories', ['repo', 'seen_day'], 'person_repos where user_id = $2::uuid', {
    repo_key: 'text',
  }),
  editor_projects: list(
    'project names',
    ['name', 'repo', 'ignored', 'automatic', 'last_at', 'seen_at'],
    'editor_projects where user_id = $2::uuid',
    { name: 'text' },
  ),
  dropped_names: list('dropped names', ['names', 'dropped_at'], 'dropped_names where user_id = $2::uuid', {
    user_id: 'uuid',
  }),
  imports: list(
    'imports',
    [
      'id',
      'state',
      'heartbeats',
      'reason',
      'skipped_time',
      'skipped_future',
      'skipped_project',
      'skipped_recording_off',
      'days',
      'days_done',
      'minutes',
      'own_minutes',
      'created_at',
      'updated_at',
    ],
    'imports where user_id = $2::uuid',
    { id: 'uuid' },
  ),
  import_days: list(
    'import days',
    ['day', { projects: bitsByName('project', 'projects', 'marks', 1_440) }],
    'import_days where user_id = $2::uuid',
    { day: 'date' },
    50,
  ),
  imported_minutes: list(
    'imported minutes',
    ['workspace_id', 'day', { repo: 'repo_key' }, 'minutes'],
    'imported_minutes where user_id = $2::uuid',
    { workspace_id: 'uuid', day: 'date', repo_key: 'text' },
  ),
  funnel: list(
    'funnel events',
    ['event', 'source', 'first_at', 'events'],
    'funnel_users where user_id = $2::uuid',
    { event: 'text', source: 'text' },
  ),
  funnel_days: list(
    'funnel events by day',
    ['event', 'source', 'first_at', 'events', 'day'],
    'funnel_days where user_id = $2::uuid',
    { event: 'text', source: 'text', day: 'date' },
  ),
  views_of_others: list(
    'views',
    ['workspace_id', 'day', { from: 'from_day', to: 'to_day' }, 'exported'],
    'dashboard_views where viewer_id = $2::uuid',
    { day: 'date', workspace_id: 'uuid', member_id: 'uuid', repo_key: 'text' },
  ),
  signed_out: list('ended sessions', ['revoked_at', 'expires_at'], 'revocations where user_id = $2::uuid', {
    id: 'uuid',
  }),
}

const auditList = (name: string, actor: string, target: string, condition: string) =>
  list(
    name,
    ['id', { at: at('at') }, 'workspace_id', { actor }, 'action', { target }, 'details'],
    `audit_entries where ${condition}`,
    { id: 'uuid' },
  )

const ofPerson = isAboutPeople()
const nameless = 'null::text'

/** The audit trail without other people's names. $2: the user. */
export const auditOfUser = [
  auditList(
    'audit entries by person',
    'actor',
    `case when not ${ofPerson} or target_id = actor_id then target end`,
    'actor_id = $2::uuid',
  ),
  auditList(
    'audit entries about person',
    nameless,
    'target',
    'target_id = $2::uuid and actor_id is distinct from target_id',
  ),
]

/** Entries from before ids were stored, without other people's names. $2: the login in lower case. */
export const auditOfLogin = [
  auditList(
    'audit entries by login',
    'actor',
    `case when not ${ofPerson} or lower(target) = lower(actor) then target end`,
    'actor_id is null and lower(actor) = $2::text',
  ),
  auditList(
    'audit entries about login',
    nameless,
    'target',
    `target_id is null and ${ofPerson} and lower(target) = $2::text and lower(actor) <> lower(target)`,
  ),
]

/** The personal workspace's content. $2: the workspace. */
export const listsOfWorkspace = {
  personal_settings: list(
    'personal settings',
    [REPO, 'version', { settings: 'settings::json' }, 'created_at'],
    'snapshot_versions where workspace_id = $2::uuid',
    { ...repoKeys, version: 'int' },
    SETTINGS_PER_PAGE,
  ),
  personal_overrides: list(
    'personal overrides',
    ['owner', 'repo', 'version', { settings: 'settings::json' }, 'updated_at'],
    'overrides where workspace_id = $2::uuid',
    repoKeys,
    SETTINGS_PER_PAGE,
  ),
  personal_override_versions: list(
    'personal override versions',
    [REPO, 'version', { settings: 'settings::json' }, 'created_at'],
    'override_versions where workspace_id = $2::uuid',
    { ...repoKeys, version: 'int' },
    SETTINGS_PER_PAGE,
  ),
  personal_workspace_versions: list(
    'personal workspace settings versions',
    [
      'version',
      { settings: 'settings::json', locked: 'locked::json', merged: 'merged::json' },
      'idle_window_minutes',
      'created_at',
    ],
    'workspace_settings_versions where workspace_id = $2::uuid',
    { version: 'int' },
    SETTINGS_PER_PAGE,
  ),
}

/** $2: the user; $5: the workspace. */
export const ACTIVITY = list(
  'activity',
  [
    'a.workspace_id',
    'a.day',
    { repo: 'coalesce(r.repo, a.repo_key)' },
    'a.minutes',
    ...countNames.map((count) => `a.${count}`),
    'a.hours',
    'a.timezone',
  ],
  `daily_activity a left join activity_repos r on r.workspace_id = a.workspace_id and r.repo_key = a.repo_key
  where a.workspace_id = $5::uuid and a.user_id = $2::uuid and ${hasActivity('a')}`,
  { 'a.day': 'date', 'a.repo_key': 'text' },
)

/** @param more parameters behind the position */
export async function* readPages(
  db: Db,
  { statement, start, rowsPerPage }: List,
  of: string,
  ...more: Parameter[]
): AsyncGenerator<string[]> {
  let position = start
  for (;;) {
    const rows = await db.rows(statement, [rowsPerPage, of, ...position, ...more])
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(({ item }) => item)
    position = JSON.parse(last.position) as Parameter[]
  }
}

const LIST_WORKSPACES = statement(
  'list workspaces with exportable activity',
  { workspaceId: uuid },
  `select workspace_id as "workspaceId" from activity_people where user_id = $1::uuid order by workspace_id`,
)

export const listActiveWorkspaces = async (db: Db, userId: string): Promise<string[]> =>
  (await db.rows(LIST_WORKSPACES, [userId])).map(({ workspaceId }) => workspaceId)

const READ_PROFILE = statement(
  'read profile details',
  { profile: text },
  `
  select json_build_object(
    'repohost_id', repohost_id, 'created_at', ${at('created_at')}, 'disabled_at', ${at('disabled_at')}
  )::text as profile
  from users where id = $1::uuid`,
)

const READ_BILLING = statement(
  'read billing',
  { billing: text },
  `
  select json_build_object(
    'customers', (
      select coalesce(json_agg(json_build_object('id', id, 'created_at', ${at('created_at')}) order by id), '[]')
      from billing_customers where user_id = $1::uuid
    ),
    'subscriptions', (
      select coalesce(json_agg(json_build_object(
        'id', s.id, 'customer_id', s.customer_id, 'status', s.status, 'updated_at', ${at('s.updated_at')}
      ) order by s.id), '[]')
      from billing_customers c join subscriptions s on s.customer_id = c.id where c.user_id = $1::uuid
    )
  )::text as billing`,
)

const READ_PERSONAL = statement(
  'read personal workspace',
  { id: uuid, workspace: text },
  `
  select id, json_build_object(
    'id', id, 'name', name, 'created_at', ${at('created_at')}, 'idle_window_minutes', idle_window_minutes,
    'patterns', array(select pattern from patterns where workspace_id = workspaces.id order by position),
    'settings', settings::json, 'locked', locked::json, 'merged', merged::json,
    'settings_version', settings_version, 'settings_updated_at', ${at('settings_updated_at')}
  )::text as workspace
  from workspaces where personal_of = $1::uuid`,
)

/** The parts of an export that are single objects, each with its properties as JSON. */
export const readSingles = async (db: Db, userId: string) => {
  const [profile, billing, personal] = await Promise.all([
    db.rows(READ_PROFILE, [userId]),
    db.rows(READ_BILLING, [userId]),
    db.rows(READ_PERSONAL, [userId]),
  ])
  return { profile: singleRow(profile).profile, billing: singleRow(billing).billing, personal: personal[0] }
}
