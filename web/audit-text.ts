/** Audit-trail entries as sentences and as CSV. */

import type { AnswerOf } from '../client/src/operations.js'
import { splitRepoPath } from '../client/src/pattern.js'
import { own } from '../schemas/own.js'
import { repoAddress, repoSettingsAddress } from './addresses.js'
import { levelNames } from './consent.js'
import { capitalized, count, time } from './format.js'

export type Entry = AnswerOf<'GET /api/team/workspaces/{id}/audit'>['entries'][number]

/** Text, and names entered by people. */
type Part = string | { name: string; href?: string }

/** What happened to a setting. */
interface KeyLine {
  verb: string
  key: string
}

export interface Sentence {
  /** Comes after the person's name: “made bob an admin”. */
  parts: Part[]
  /** One line for each key or value. */
  lines: (string | KeyLine)[]
  /** The version that has the changed values, and whose. */
  changed?: { of: 'settings' | 'override' | 'snapshot'; version: number } | undefined
}

/** `says\`removed ${'bob'}\``: names stay separate from the text. */
const says = (texts: TemplateStringsArray, ...names: unknown[]): Part[] =>
  texts.flatMap((text, index) => [text, ...(index < names.length ? [{ name: String(names[index]) }] : [])])

type Details = Record<string, unknown>

const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const article = (role: unknown): string => (role === 'admin' ? 'an admin' : 'a member')

/** Why an admin has to remove someone who has left an organization. */
const WAITS_BECAUSE: Record<string, string> = {
  last_admin: 'The last admin always stays',
  removals_per_hour: 'Too many left within an hour',
  copied_report: 'An earlier report says the same, and someone else could have resent it',
  inherited_membership: 'A parent group may still make the person a member',
}

/** Why an admin has to move the settings of a repository that the host reported as renamed. */
const MOVE_WAITS_BECAUSE: Record<string, string> = {
  outside_patterns: 'No pattern covers the new name',
  repo_taken: 'The new name already has settings or an override',
  unconfirmed: 'Only the host’s answer to an admin confirms a rename',
}

const write = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value)

/** The keys that changed, one line each. */
const keyLines = (details: Details): Sentence['lines'] => {
  const idle = details.idle_window_minutes as { before: number; after: number } | undefined
  return [
    ...['added', 'changed', 'removed', 'locked', 'unlocked', 'merged', 'unmerged'].flatMap((verb) =>
      list(details[verb]).map((key) => ({ verb: capitalized(verb), key })),
    ),
    ...(idle ? [`Idle window: ${idle.before} to ${idle.after} minutes`] : []),
    ...(typeof details.more_keys === 'number' ? [`${count(details.more_keys)} more keys`] : []),
  ]
}

/** The first version has none before it. */
const changedIn = (of: 'settings' | 'override' | 'snapshot', { version }: Details): Sentence['changed'] =>
  typeof version === 'number' && version > 1 ? { of, version } : undefined

const difference = (before: unknown, after: unknown): string[] => {
  const [old, fresh] = [list(before), list(after)]
  return [
    ...fresh.filter((one) => !old.includes(one)).map((one) => `Added ${one}`),
    ...old.filter((one) => !fresh.includes(one)).map((one) => `Removed ${one}`),
  ]
}

type Describe = (target: string, details: Details, workspaceId: string) => Sentence

const plain =
  (parts: (target: string, details: Details) => Part[], lines: (details: Details) => string[] = () => []) =>
  (target: string, details: Details): Sentence => ({ parts: parts(target, details), lines: lines(details) })

const ofSnapshot =
  (verb: string): Describe =>
  (target, details, workspace) => ({
    parts: [
      `${verb} the settings of `,
      { name: target, href: repoAddress(workspace, splitRepoPath(target)) },
    ],
    lines: versionLines(details),
    changed: changedIn('snapshot', details),
  })

const ofOverride =
  (verb: string): Describe =>
  (target, details, workspace) => ({
    parts: [
      `${verb} the override for `,
      { name: target, href: repoSettingsAddress(workspace, splitRepoPath(target)) },
    ],
    lines: [...keyLines(details), ...versionLines(details)],
    changed: verb === 'removed' ? undefined : changedIn('override', details),
  })

const ofSettings =
  (verb: string): Describe =>
  (_, details) => ({
    parts: [`${verb} the workspace settings`],
    lines: [...keyLines(details), ...versionLines(details)],
    changed: changedIn('settings', details),
  })

const versionLines = ({ restored_version, version }: Details): string[] =>
  typeof restored_version === 'number' ? [`Version ${restored_version} is now version ${version}`] : []

const expiry = ({ expires_at }: Details): string[] =>
  typeof expires_at === 'string' ? [`Expires ${time(expires_at)}`] : []

const sentences: Record<string, Describe> = {
  'activity_privacy.changed': plain(
    () => ['changed the privacy level'],
    ({ before, after }) => [`From “${own(levelNames, write(before))}” to “${own(levelNames, write(after))}”`],
  ),
  'invite.created': plain(
    (_, { role }) => [`created an invite for ${article(role)}`],
    (details) => [
      `Maximum uses: ${details.max_uses == null ? 'no limit' : write(details.max_uses)}`,
      ...expiry(details),
    ],
  ),
  'invite.revoked': plain(() => ['revoked an invite']),
  'invites.revoked': plain((target, details) => [
    `revoked ${details.count === 1 ? '1 invite' : `${write(details.count)} invites`} created by `,
    { name: target },
  ]),
  'key.created': plain(
    // An admin's personal key has no name in a shared workspace's audit trail.
    (target) => (target === '' ? ['created a personal access key'] : says`created the access key ${target}`),
    (details) => [`Scopes: ${list(details.scopes).join(', ')}`, ...expiry(details)],
  ),
  'key.revoked': plain((target) =>
    target === '' ? ['revoked a personal access key'] : says`revoked the access key ${target}`,
  ),
  'member.added': plain((target, { role }) => [...says`added ${target}`, ` as ${article(role)}`]),
  'member.disabled': plain((target) => says`disabled the account of ${target}`),
  'member.enabled': plain((target) => says`enabled the account of ${target}`),
  'member.joined': plain((_, { role, organization }) => [
    `joined as ${article(role)}`,
    ...(typeof organization === 'string' ? says` through ${organization}` : []),
  ]),
  'member.kept': plain((target) => says`kept ${target}, who has left the organization`),
  'member.left': plain(() => ['left the workspace']),
  'member.removal_waits': plain(
    (target) => says`left the removal of ${target} to an admin`,
    ({ reason, because }) => [
      `${capitalized(String(reason))}`,
      own(WAITS_BECAUSE, String(because)) ?? String(because),
    ],
  ),
  'member.removed': plain(
    (target) => says`removed ${target}`,
    ({ reason }) => (typeof reason === 'string' ? [capitalized(reason)] : []),
  ),
  'member.role_changed': plain((target, { after }) => [...says`made ${target}`, ` ${article(after)}`]),
  'member.signed_out': plain((target) => says`signed ${target} out everywhere`),
  'organization.linked': plain(
    (target) => says`made the workspace follow ${target}`,
    ({ after }) => {
      const { join, leave } = (after ?? {}) as { join?: string; leave?: string }
      return [
        join === 'member' ? 'Its people become members' : 'Its people need an invite',
        leave === 'remove' ? 'People who leave are removed' : 'People who leave stay',
      ]
    },
  ),
  'organization.paused': plain(() => [
    'paused joining by organization, because its creator no longer owns the organization',
  ]),
  'organization.unlinked': plain((target) => says`stopped following ${target}`),
  'override.removed': ofOverride('removed'),
  'override.restored': ofOverride('restored'),
  'override.set': ofOverride('set'),
  'patterns.added': plain(
    () => ['added repository patterns'],
    ({ patterns }) => list(patterns).map((one) => `Added ${one}`),
  ),
  'patterns.replaced': plain(
    () => ['changed the repository patterns'],
    ({ before, after }) => difference(before, after),
  ),
  'repo.move_waits': plain(
    (target, { from }) => says`left moving the settings of ${from} to ${target} to an admin`,
    ({ because }) => [own(MOVE_WAITS_BECAUSE, String(because)) ?? String(because)],
  ),
  'repo.moved': (target, { from, snapshot, override }, workspace) => ({
    parts: [
      ...says`moved the settings of ${from} to its new name `,
      { name: target, href: repoSettingsAddress(workspace, splitRepoPath(target)) },
    ],
    lines: [
      ...(snapshot === true ? ['Pushed settings and their versions'] : []),
      ...(override === true ? ['Override and its versions'] : []),
    ],
  }),
  'settings.deleted': ofSnapshot('deleted'),
  'settings.pushed': ofSnapshot('pushed'),
  'settings.restored': ofSnapshot('restored'),
  'webhook.created': plain(() => ['created the webhook']),
  'webhook.deleted': plain(() => ['deleted the webhook']),
  'webhook.secret_rotated': plain(() => ['rotated the webhook secret']),
  'workspace.created': plain(
    () => ['created the workspace'],
    ({ patterns }) => list(patterns).map((one) => `Added ${one}`),
  ),
  'workspace.renamed': plain(
    (_, { before, after }) => says`renamed the workspace from ${before} to ${after}`,
  ),
  'workspace_settings.changed': ofSettings('changed'),
  'workspace_settings.restored': ofSettings('restored'),
}

/** The actions to filter by. Others are added when an entry has them. */
export const KNOWN_ACTIONS = Object.keys(sentences)

/** An action as text: `member.role_changed` as “member role changed”. */
export const labelOf = (action: string) => action.replaceAll(/[._]/g, ' ')

/** An entry's sentence. Actions unknown to the page keep their names. */
export const sentenceOf = ({ action, target, details }: Entry, workspaceId: string): Sentence => {
  const sentence = own(sentences, action)?.(target ?? '', details, workspaceId)
  if (!sentence) return unknown(action, target, details)
  const { reason } = details
  return typeof reason === 'string'
    ? { ...sentence, lines: [...sentence.lines, `Reason: ${reason}`] }
    : sentence
}

const unknown = (action: string, target: string | null, details: Details): Sentence => ({
  parts: [`${labelOf(action)} `, { name: target ?? '' }],
  lines: Object.entries(details).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${write(value)}`),
})

const textOf = (line: string | KeyLine): string =>
  typeof line === 'string' ? line : `${line.verb} ${line.key}`

/** Text in a cell must not start a formula when a spreadsheet opens the file, whichever separator it expects. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/**
 * A line per entry: its time in UTC, the person, the action, its target, and the sentence. A note becomes the
 * description in a last line. Without the byte order mark, spreadsheets read the text in a local encoding.
 */
export const csvOf = (entries: Entry[], note?: string): string => {
  const rows = entries.map((entry) => {
    const { parts, lines } = sentenceOf(entry, '')
    const text = parts.map((part) => (typeof part === 'string' ? part : part.name)).join('')
    return [
      entry.at,
      entry.actor,
      entry.action,
      entry.target ?? '',
      [text.trim(), ...lines.map(textOf)].join('; '),
    ]
  })
  if (note !== undefined) rows.push(['', '', '', '', note])
  return `\ufeff${[['time', 'person', 'action', 'target', 'description'], ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`
}
