/** The facts of `GET /api/privacy` and docs/privacy.md: the stored data about people, its purpose, lifetime and viewers. */
import type { TProperties } from '@sinclair/typebox'
import { View } from '../../../schemas/account.js'
import { ActivityEntry, CountsBody, FlushBody, FlushResult } from '../../../schemas/activity.js'
import { AuditEntry } from '../../../schemas/audit.js'
import { EventBody } from '../../../schemas/funnel.js'
import { AccessKey } from '../../../schemas/keys.js'
import { limits } from '../../../schemas/limits.js'
import { Member } from '../../../schemas/members.js'
import type { PrivacyRecord, PrivacyView } from '../../../schemas/privacy.js'
import { Profile, TimezoneOfPerson } from '../../../schemas/profile.js'
import { Recording } from '../../../schemas/recording.js'
import { SnapshotVersionList } from '../../../schemas/settings.js'
import { Delivery } from '../../../schemas/webhooks.js'

const fieldsOf = <P extends TProperties>({ properties }: { properties: P }, ...without: (keyof P)[]) =>
  Object.keys(properties).filter((name) => !without.includes(name))

const counted = CountsBody.properties.members.items.properties.repos.items

/** @param detailDays how many days hours are kept */
export const privacyRecords = ({ detailDays }: { detailDays: number }): PrivacyRecord[] => [
  {
    name: 'account',
    what: 'The people who have signed in, with their name at the repository host, and when the operator disabled an account. The host’s token is only shown to the host and not stored.',
    fields: [
      'repohost_id',
      ...fieldsOf(Profile, 'plan', 'status', 'timezone', 'timezone_chosen'),
      'disabled_at',
    ],
    why: 'To recognize callers, even after a rename, and to reject those whose account is disabled.',
    kept_days: null,
    kept: 'As long as the account exists.',
  },
  {
    name: 'addresses',
    what: 'At GitLab: HMACs of the e-mail addresses that the host shows as a person’s own and confirmed at sign-in. The addresses themselves aren’t stored, and backups don’t contain the key.',
    fields: ['hmac', 'confirmed_day'],
    why: 'To count commits for their author where the host names authors only by address.',
    kept_days: null,
    kept: 'Until the host no longer shows the address as the person’s own at sign-in, or the account is deleted.',
  },
  {
    name: 'time zone',
    what: 'The time zone that a person chose or a client named last, which of the two, and the one in which hours were recorded.',
    fields: fieldsOf(TimezoneOfPerson),
    why: 'To count minutes on the person’s own day, and to apply chosen hours in local time.',
    kept_days: null,
    kept: `The person’s as long as the account exists, those of hours as long as the hours: ${detailDays} days.`,
  },
  {
    name: 'membership',
    what: 'The members of each workspace, and when people were removed. If a workspace is linked to a repository-host organization: the admin who linked it, when the host last confirmed members who joined through the link, when it reported that a member has left, and the ids and fingerprints of its reports.',
    fields: [...fieldsOf(Member, 'last_active_day'), 'linked_by', 'confirmed_at', 'left_at', 'reports'],
    why: 'To decide who may see and change what, to reject older invites after a removal, and to make the membership follow the organization.',
    kept_days: null,
    kept: 'As long as the membership lasts. Removals are kept as long as the workspace exists, and a link’s author as long as the link exists.',
  },
  {
    name: 'kept removals',
    what: 'Removals and demotions of people who deleted their account later. The record has no name and no id, only an HMAC of the host id, which the service compares when people join.',
    fields: ['person', 'removed_at'],
    why: 'To stop removed people from rejoining with an older invite after they delete their account and sign in again.',
    kept_days: limits.invite_hours_max / 24,
    kept: `Until the last older invite to the workspace has expired, at most ${limits.invite_hours_max / 24} days.`,
  },
  {
    name: 'minutes',
    what: 'A person’s active minutes by UTC day and repository, in each matching workspace.',
    fields: fieldsOf(ActivityEntry, 'hours'),
    why: 'To show people their own time, and the team its total.',
    kept_days: null,
    kept: 'As long as the workspace exists, even after the person has left it. Deleting the account removes the person from them.',
  },
  {
    name: 'hours',
    what: 'The UTC hours in which a person’s active minutes fell.',
    fields: fieldsOf(ActivityEntry, 'repo', 'day', 'minutes'),
    why: 'To limit an hour to sixty minutes, and to show the team’s heatmap.',
    kept_days: detailDays,
    kept: `${detailDays} days. Then only the minutes of the day remain.`,
  },
  {
    name: 'commits and closed issues',
    what: 'The numbers that a workspace admin has uploaded or the repository host has reported, by person, day and repository, without content.',
    fields: [...fieldsOf(CountsBody, 'workspace', 'members'), 'login', ...fieldsOf(counted)],
    why: 'To show them next to the minutes.',
    kept_days: null,
    kept: 'As long as the workspace exists, even after the person has left it. Deleting the account removes the person from them.',
  },
  {
    name: 'deliveries',
    what: 'The repository host’s reports to a workspace’s webhook: the event, the repository, how much of it counted, and commits that didn’t, each with the start of its hash and the author’s login, if the payload has one. Commits that counted and renames of repositories are stored as a hash, without the author. Issues are stored with the time they were last closed or reopened on a day, and the member who closed them.',
    fields: [...fieldsOf(Delivery), 'hash', 'number', 'closed', 'user_id'],
    why: 'To avoid double counting, and to show admins that the webhook works.',
    kept_days: limits.webhook_days,
    kept: `${limits.webhook_days} days.`,
  },
  {
    name: 'answers to flushes',
    what: 'The response to a flush of minutes, and a hash of its content.',
    fields: [...fieldsOf(FlushBody, 'entries', 'timezone'), ...fieldsOf(FlushResult, 'duplicate')],
    why: 'To count a repeated flush only once.',
    kept_days: limits.flush_id_days,
    kept: `${limits.flush_id_days} days.`,
  },
  {
    name: 'heartbeats',
    what: 'The minutes in which a person’s editors have sent heartbeats, with the repository or project name and the workspaces in which they counted, and the time of the newest heartbeat. No file, branch, language or machine name is stored.',
    fields: ['hour', 'minutes', 'project', 'workspace_id', 'last_at'],
    why: 'To count each minute once, in whatever order heartbeats arrive. They are used only for counting.',
    kept_days: limits.heartbeat_days,
    kept: `${limits.heartbeat_days} days. The time of the newest heartbeat is kept as long as the account exists.`,
  },
  {
    name: 'agent time',
    what: 'Minutes in which a person’s agents worked and the person didn’t, by UTC day, hour and repository. They never count as active minutes. No tokens, models, prompts or lines are stored.',
    fields: ['day', 'repo', 'agent_minutes', 'agent_hours', 'workspace_id'],
    why: 'To keep agent time separate from the person’s own, and to show it to the person.',
    kept_days: null,
    kept: `As long as the account and the workspace exist. Hours are kept for ${detailDays} days.`,
  },
  {
    name: 'personal minutes',
    what: 'Minutes of a person’s heartbeats and imports that count in no workspace, by UTC day and by repository or project name: those of days before the person joined a workspace, of other repositories, and of names without a repository.',
    fields: ['day', 'project', 'minutes', 'marks', 'timezone'],
    why: 'To show people all of their own time, each minute once.',
    kept_days: null,
    kept: `As long as the account exists. Which minutes of the day they are, and their time zone, is kept for ${detailDays} days.`,
  },
  {
    name: 'project names',
    what: 'Names in heartbeats that aren’t repositories, such as folder names and addresses at other hosts, repositories in heartbeats that no workspace counts, and the repository that the person or the service has chosen for each. The service also stores the repositories that the person has pushed or sent by their full address, because a name is matched automatically only to one of these. Users, passwords and ports in addresses are removed before storing.',
    fields: ['name', 'repo', 'ignored', 'automatic', 'last_at', 'seen_day', 'dropped'],
    why: 'To let the person assign a repository.',
    kept_days: limits.heartbeat_days,
    kept: `Unassigned names are kept for ${limits.heartbeat_days} days after the last heartbeat, at most ${limits.editor_projects_waiting} of them. The number of older ones that made room is kept as long. Choices are kept until the person changes them or the account is deleted. Repositories are kept for ${limits.person_repo_days} days after their last use.`,
  },
  {
    name: 'imports',
    what: 'The progress of a person’s latest import, with the number of heartbeats that don’t count and why, its times and projects until they are counted, with those of agents kept separately, and the minutes that imports have found by day, repository and workspace.',
    fields: [
      'state',
      'heartbeats',
      'reason',
      'skipped',
      'days',
      'days_done',
      'minutes',
      'own_minutes',
      'workspace_id',
      'day',
      'repo',
    ],
    why: 'To continue after a restart, and to count only additional minutes in a later import.',
    kept_days: null,
    kept: `Times are kept until they are counted, at most ${limits.heartbeat_days} days, and minutes as long as the account exists.`,
  },
  {
    name: 'recording',
    what: 'The person’s recording preferences.',
    fields: fieldsOf(Recording),
    why: 'To apply them.',
    kept_days: null,
    kept: 'As long as the account exists.',
  },
  {
    name: 'settings',
    what: 'The authors of invites and of versions of settings, workspace settings and overrides.',
    fields: fieldsOf(SnapshotVersionList.properties.versions.items),
    why: 'To show a team who to ask.',
    kept_days: null,
    kept: `The last ${limits.settings_versions_kept} versions. Invites are kept as long as the workspace exists.`,
  },
  {
    name: 'audit trail',
    what: 'Changes in a workspace with their authors, who can include the operator: members, roles, invites, access keys, patterns, settings. Deleted accounts appear as `deleted user`.',
    fields: fieldsOf(AuditEntry),
    why: 'To explain changes.',
    kept_days: limits.audit_days,
    kept: `${limits.audit_days} days.`,
  },
  {
    // Clients may use this name, so it doesn't change.
    name: 'looks',
    what: 'Each admin’s views of named numbers, with their day, kind and range.',
    fields: fieldsOf(View),
    why: 'To show people who viewed their numbers.',
    kept_days: limits.view_days,
    kept: `${limits.view_days} days.`,
  },
  {
    name: 'funnel events',
    what: 'The first time that a person used a part of the product, such as signing in, and the number of uses per day.',
    fields: fieldsOf(EventBody),
    why: 'To see where people give up, as totals over all people.',
    kept_days: null,
    kept: 'As long as the account exists.',
  },
  {
    name: 'billing',
    what: 'The person’s id at the billing provider, and the subscription’s state. No name, address or payment details.',
    fields: ['customer_id', 'status'],
    why: 'To know who has Pro.',
    kept_days: null,
    kept: 'As long as the account exists.',
  },
  {
    name: 'access keys',
    what: 'The personal and workspace keys that a person has created, with their scopes and the day of their last use.',
    fields: fieldsOf(AccessKey),
    why: 'To identify callers with a key, and to check what the key may do.',
    kept_days: limits.ended_key_days,
    kept: `As long as they work, and ${limits.ended_key_days} days more. A personal key is deleted with the account.`,
  },
  {
    name: 'hashes of access keys',
    what: 'The SHA-256 of an access key’s secret, and when the key ends. It contains no name and leads to no account.',
    fields: ['hash', 'key_id', 'expires_at', 'revoked_at'],
    why: 'To recognize keys, and to report that an old key has ended.',
    kept_days: limits.ended_key_days,
    kept: `As long as the key works, and ${limits.ended_key_days} days more, even if the account is deleted.`,
  },
  {
    name: 'ended sessions',
    what: 'The sessions that were signed out. Active sessions aren’t stored.',
    fields: ['jti', 'user_id', 'generation'],
    why: 'To reject their tokens.',
    kept_days: limits.session_days,
    kept: `Until they would have expired, at most ${limits.session_days} days.`,
  },
]

export const notRecorded: string[] = [
  'Keystrokes, file names, contents and screens.',
  'Locations and network addresses.',
  'Start times, breaks and idle time. Nothing is finer than an hour, except the minutes of heartbeats and imports. They are used only for counting. Only the person, or the operator for the person, can export them.',
  'Repository-host tokens, and keys of model providers.',
  'Tokens, models, prompts, sessions and lines of assistants.',
  'Names, repositories and queries in the log.',
]

/** @param minGroup smallest group whose numbers level `team` may show */
export const privacyViews = ({ minGroup }: { minGroup: number }): PrivacyView[] => {
  const group = `${minGroup} or more people`
  const person = 'The person.'
  const members = 'The members of the workspace.'
  const admins = 'The admins of the workspace.'
  const everywhere = (what: string, who: string): PrivacyView => ({ what, named: who, team: who })
  return [
    {
      what: 'A person’s activity in a range: minutes, active days, commits, closed issues, last active day.',
      named: 'The person, and the admins of the workspace, live.',
      team: person,
    },
    {
      what: 'A person’s activity on each day (`member=`, CSV).',
      named: 'The person, and the admins of the workspace.',
      team: person,
    },
    everywhere('A person’s hours.', person),
    {
      what: 'The team’s hours (heatmap).',
      named: `The admins of the workspace, for days on which at least ${minGroup} people other than the admin had hours (with \`repo=\`: in that repository).`,
      team: `The admins of the workspace, in published weeks, where ${group} had minutes in the hour.`,
    },
    {
      what: 'The team’s days, repositories and weeks.',
      named: admins,
      team: `The admins of the workspace, in published weeks, where ${group} contributed.`,
    },
    { what: 'The last active day in the list of members.', named: members, team: 'No one.' },
    everywhere('Login, avatar, role, and the time of joining.', members),
    everywhere('The authors of settings, workspace settings and overrides.', members),
    everywhere('The authors of invites and workspace keys, and the audit trail.', admins),
    everywhere(
      'Whether an admin has created or revoked a personal key that can change settings, upload counts or read the dashboard, with its scopes and without its name.',
      admins,
    ),
    {
      what: 'The deliveries to the webhook: the time, the event, the repository, how much of it counted, and the logins in commits that didn’t.',
      named: admins,
      team: 'The admins of the workspace see only the time, the event and the status.',
    },
    everywhere('Hashes of commits that counted, and who closed which issue.', 'No one.'),
    everywhere(
      'Recording preferences, views of the person’s numbers by name, and the person’s own access keys.',
      person,
    ),
    everywhere(
      'The minutes of heartbeats and those that no workspace counts, agent time, project names and imports.',
      person,
    ),
    everywhere(
      'Notices of a loosened level, of a lock on a key that an override of the person’s sets, of a new admin, of the person’s own removal, and for admins, of a renamed repository.',
      person,
    ),
    everywhere('The plan and the state of a subscription.', person),
    everywhere(
      'HMACs of addresses, time zone, responses to flushes, ended sessions, kept removals, hashes of access keys, the id at the billing provider.',
      'No one.',
    ),
    everywhere('Funnel events.', 'No one. With an admin key, the operator sees totals for everyone.'),
  ]
}
