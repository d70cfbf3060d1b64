/** What is kept of people, why, for how long, and who sees it: for `GET /api/privacy` and docs/privacy.md. */
import type { TProperties } from '@sinclair/typebox'
import { View } from '../../../schemas/account.js'
import { ActivityEntry, CountsBody, FlushBody, FlushResult } from '../../../schemas/activity.js'
import { AuditEntry } from '../../../schemas/audit.js'
import { EventBody } from '../../../schemas/funnel.js'
import { limits } from '../../../schemas/limits.js'
import { Member } from '../../../schemas/members.js'
import type { PrivacyRecord, PrivacyView } from '../../../schemas/privacy.js'
import { Profile } from '../../../schemas/profile.js'
import { Recording } from '../../../schemas/recording.js'
import { SnapshotVersionList } from '../../../schemas/settings.js'

const fieldsOf = <P extends TProperties>({ properties }: { properties: P }, ...without: (keyof P)[]) =>
  Object.keys(properties).filter((name) => !without.includes(name))

const counted = CountsBody.properties.members.items.properties.repos.items

/** @param detailDays how many days hours are kept */
export const privacyRecords = ({ detailDays }: { detailDays: number }): PrivacyRecord[] => [
  {
    name: 'account',
    what: 'Who has signed in, as the repository host names them. Its token is shown to the host and not kept.',
    fields: ['repohost_id', ...fieldsOf(Profile, 'plan', 'status')],
    why: 'To know who calls, also after a rename.',
    kept_days: null,
    kept: 'As long as the account.',
  },
  {
    name: 'time zone',
    what: 'The time zone that the client of a person has named last.',
    fields: fieldsOf(FlushBody, 'entries', 'flush_id'),
    why: 'To draw hours, and to judge chosen hours, where the person lives.',
    kept_days: null,
    kept: 'As long as the account.',
  },
  {
    name: 'membership',
    what: 'Who is in which workspace. Of who was removed, when that was.',
    fields: fieldsOf(Member, 'last_active_day'),
    why: 'To decide who may see and change what. Invites from before a removal let nobody in again.',
    kept_days: null,
    kept: 'As long as somebody is a member; the moment of a removal as long as the workspace.',
  },
  {
    name: 'kept removals',
    what: 'That someone was removed from a workspace or made a member instead of an admin, and has deleted the account since. It holds no name and no id, only an HMAC of the host id, which this service compares with that of whoever joins.',
    fields: ['person', 'removed_at'],
    why: 'So that nobody gets back in with an older invite by deleting the account and signing in again.',
    kept_days: limits.invite_hours_max / 24,
    kept: `Until the last older invite to the workspace has ended, at most ${limits.invite_hours_max / 24} days.`,
  },
  {
    name: 'minutes',
    what: 'Active minutes of a person on a UTC day in a repository, in each workspace that matches.',
    fields: fieldsOf(ActivityEntry, 'hours'),
    why: 'To show the person, and added up the team, where time goes.',
    kept_days: null,
    kept: 'As long as the workspace, also when the person has left it; without the person once the account is deleted.',
  },
  {
    name: 'hours',
    what: 'In which UTC hours of the day these minutes were.',
    fields: fieldsOf(ActivityEntry, 'repo', 'day', 'minutes'),
    why: 'To keep more than sixty minutes out of an hour, and to draw the week of the team.',
    kept_days: detailDays,
    kept: `${detailDays} days; then only the minutes of the day are left.`,
  },
  {
    name: 'commits and closed issues',
    what: 'How many an admin of a workspace has uploaded for a person, a day and a repository: numbers, no contents.',
    fields: [...fieldsOf(CountsBody, 'workspace', 'members'), 'login', ...fieldsOf(counted)],
    why: 'To show them beside the minutes.',
    kept_days: null,
    kept: 'As long as the workspace, also when the person has left it; without the person once the account is deleted.',
  },
  {
    name: 'answers to flushes',
    what: 'What a flush of minutes was answered, and a hash of what it said.',
    fields: [...fieldsOf(FlushBody, 'entries', 'timezone'), ...fieldsOf(FlushResult, 'duplicate')],
    why: 'So that a flush that is sent again counts once.',
    kept_days: limits.flush_id_days,
    kept: `${limits.flush_id_days} days.`,
  },
  {
    name: 'recording',
    what: 'What a person does not want to be recorded.',
    fields: fieldsOf(Recording),
    why: 'To leave it out.',
    kept_days: null,
    kept: 'As long as the account.',
  },
  {
    name: 'settings',
    what: 'Who has pushed which version of the settings of a repository, who set an override, who made an invite.',
    fields: fieldsOf(SnapshotVersionList.properties.versions.items),
    why: 'So that a team knows whom to ask.',
    kept_days: null,
    kept: `The last ${limits.settings_versions_kept} versions of a repository; overrides and invites as long as the workspace.`,
  },
  {
    name: 'audit trail',
    what: 'Who changed what in a workspace: members, roles, invites, patterns, settings. In place of people whose account was deleted it says `deleted user`.',
    fields: fieldsOf(AuditEntry),
    why: 'To be able to explain a change.',
    kept_days: limits.audit_days,
    kept: `${limits.audit_days} days.`,
  },
  {
    name: 'looks',
    what: 'Which admin has looked, on which day, at the numbers of a team by name, and at which range.',
    fields: fieldsOf(View),
    why: 'So that people learn who looked at them.',
    kept_days: limits.view_days,
    kept: `${limits.view_days} days.`,
  },
  {
    name: 'funnel events',
    what: 'When a person first did something with the product, such as signing in, and on which days how often.',
    fields: fieldsOf(EventBody),
    why: 'To see, counted over all, where people give up.',
    kept_days: null,
    kept: 'As long as the account.',
  },
  {
    name: 'billing',
    what: 'The id of a person at the billing provider, and the state of the subscription. No name, address or means of payment.',
    fields: ['customer_id', ...fieldsOf(Profile, 'id', 'login', 'avatar_url', 'plan')],
    why: 'To know who has Pro.',
    kept_days: null,
    kept: 'As long as the account.',
  },
  {
    name: 'ended sessions',
    what: 'Which sessions were signed out. Sessions that run are kept nowhere.',
    fields: ['jti', 'user_id', 'generation'],
    why: 'So that nobody gets in with them any more.',
    kept_days: limits.session_days,
    kept: `Until they would have ended by themselves, at most ${limits.session_days} days.`,
  },
]

export const notRecorded: string[] = [
  'What is typed, read or opened: no key, file name, content or screen.',
  'Where somebody is: no place, and no address of a computer.',
  'Running times, breaks and idle time: nothing below an hour, and no order within it.',
  'The token of the repository host, and the keys of model providers.',
  'Names, repositories or what was asked for, in the log.',
]

/** @param minGroup how many people stand behind what the level `team` shows */
export const privacyViews = ({ minGroup }: { minGroup: number }): PrivacyView[] => {
  const group = `${minGroup} or more people`
  const person = 'The person.'
  const members = 'The members of the workspace.'
  const admins = 'The admins of the workspace.'
  const everywhere = (what: string, who: string): PrivacyView => ({ what, named: who, team: who })
  return [
    {
      what: 'What a person did in a range: minutes, active days, commits, closed issues, last active day.',
      named: 'The person, and the admins of the workspace, as it happens.',
      team: person,
    },
    {
      what: 'What a person did on each day (`member=`, CSV).',
      named: 'The person, and the admins of the workspace.',
      team: person,
    },
    everywhere('The hours of a person.', person),
    {
      what: 'The hours of the team (heatmap).',
      named:
        'The admins of the workspace, for days on which at least 2 people other than the admin had hours in the same time zone (with `repo=`: in that repository).',
      team: `The admins of the workspace, in published weeks, where ${group} had minutes in the hour.`,
    },
    {
      what: 'The days, repositories and weeks of the team.',
      named: admins,
      team: `The admins of the workspace, in published weeks, where ${group} stand behind them.`,
    },
    { what: 'The last active day in the list of members.', named: members, team: 'Nobody.' },
    everywhere('Login, avatar, role, and when somebody joined.', members),
    everywhere('Who pushed settings or set an override.', members),
    everywhere('Who made an invite; the audit trail.', admins),
    everywhere('What somebody lets be recorded; who looked at their numbers by name.', person),
    everywhere('The plan and the state of a subscription.', person),
    everywhere(
      'Time zone, answers to flushes, ended sessions, kept removals, the id at the billing provider.',
      'Nobody.',
    ),
    everywhere(
      'Funnel events.',
      'Nobody; whoever has an admin key of the operator sees them counted over all people.',
    ),
  ]
}
