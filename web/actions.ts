/** Actions that the search offers: ranges, the theme, dialogs, and the documentation. */
import { own } from '../schemas/own.js'
import { announce } from './announce.js'
import { capitalized, days } from './format.js'
import type { Workspace } from './me.js'
import { calendarRanges, lastDays, presetsOf, RANGE_KEYS } from './query.js'
import { openPanel, singleKeys } from './shortcuts.js'
import { setTheme, theme, themes } from './theme.js'

export interface Item {
  kind: string
  title: string
  /** More text for the search to match. */
  about?: string
  href?: string
  /** Runs instead of changing the screen. */
  run?: () => void
  /** The keyboard shortcut for the same action. */
  keys?: string | undefined
}

/** The reference's guides, by the last part of their addresses. */
const guides: [path: string, title: string, about: string][] = [
  ['getting-started', 'Getting started', ''],
  ['settings', 'Settings to pull', 'extension, merge, conflicts, 412'],
  ['settings-as-code', 'Settings as code', 'file, CI'],
  ['team-policies', 'Locks, history and a schema', 'policies'],
  ['editors', 'Count time from any editor', 'WakaTime, heartbeats'],
  ['minutes', 'Active minutes', 'idle window, how time is counted'],
  ['access-keys', 'Access keys', 'tokens, scripts'],
  ['sessions', 'Sessions', 'sign in'],
  ['webhooks', 'Webhooks', 'commits, issues'],
  ['limits', 'Limits', '429, quotas'],
  ['changelog', 'Changelog', 'what is new'],
]

export const guideItems = (): Item[] => [
  { kind: 'Guide', title: 'API reference', about: 'documentation, guides, errors', href: '/api/docs' },
  ...guides.map(([path, title, about]) => ({
    kind: 'Guide',
    title,
    about: `documentation ${about}`,
    href: `/api/docs/${path}`,
  })),
]

/** The screen's ranges, with its filters. On a screen without a range, they lead to the workspace's numbers. */
export const rangeItems = (
  workspace: Workspace | undefined,
  { path, query }: { path: string; query: Record<string, string> },
): Item[] => {
  if (!workspace) return []
  const start = `/w/${workspace.id}`
  const hasRange =
    path === start ||
    path === `${start}/me` ||
    path === `${start}/repos` ||
    (path.startsWith(`${start}/repos/`) && !path.endsWith('/settings'))
  const target = hasRange ? path : workspace.role === 'admin' ? start : `${start}/me`
  const { range: _, ...filters } = query
  const isWeekly = target === start && workspace.activity_privacy === 'team'
  return [...presetsOf(isWeekly), ...(isWeekly ? [] : calendarRanges())].map(([name, range]) => ({
    kind: 'Range',
    title: `Show ${name.toLowerCase()}`,
    about: `range, dates ${days(range.from, range.to)}`,
    keys: hasRange && singleKeys.value ? own(RANGE_KEYS, name)?.toUpperCase() : undefined,
    href: `${target}?${new URLSearchParams({ ...(hasRange && filters), ...range })}`,
  }))
}

type Action = Omit<Item, 'kind'>

const ofMembers = (start: string): Action[] => [
  { title: 'Leave workspace', about: 'quit', href: `${start}/people?new=leave` },
]

const ofAdmins = (start: string, id: string): Action[] => [
  { title: 'Invite people', about: 'add a member, new invite', href: `${start}/people?new=invite` },
  {
    title: 'Download CSV',
    about: 'export the team’s numbers, spreadsheet, last 30 days',
    href: `/api/team/dashboard?${new URLSearchParams({ workspace: id, ...lastDays(30), format: 'csv' })}`,
  },
  {
    title: 'Restore earlier settings',
    about: 'roll back, undo, versions, history',
    href: `${start}/settings#versions`,
  },
  { title: 'Add repositories', about: 'patterns', href: `${start}/settings/general#patterns` },
  { title: 'Revoke an invite', about: 'invites, remove', href: `${start}/people` },
  { title: 'Rename workspace', about: 'name', href: `${start}/settings/general#rename` },
  { title: 'Delete workspace', about: 'remove', href: `${start}/settings/general#delete` },
  {
    title: 'Import settings.json…',
    about: 'code-workspace, dev container, editor',
    href: `${start}/settings?new=import`,
  },
  { title: 'Change privacy level', about: 'who sees numbers', href: `${start}/settings/privacy` },
  {
    title: 'Set up webhook',
    about: 'manage, commits, issues, deliveries',
    href: `${start}/settings/integrations#webhook`,
  },
  {
    title: 'Sync members',
    about: 'follow an organization or a group',
    href: `${start}/settings/integrations#organization`,
  },
  { title: 'Download audit trail', about: 'csv, export, changes', href: `${start}/settings/audit` },
  {
    title: 'Create workspace key',
    about: 'new token, build job',
    href: `${start}/settings/integrations?new=key`,
  },
]
/** Actions that a personal workspace doesn't have. */
const SHARED = ['Invite people', 'Sync members', 'Leave workspace']

const ofAccount: Action[] = [
  { title: 'Pause or resume recording', about: 'stop, preferences', href: '/account/privacy#preferences' },
  { title: 'Who viewed me', about: 'views of my numbers, looked', href: '/account/privacy#views' },
  { title: 'Revoke an access key', about: 'remove, token', href: '/account/editors#keys' },
  { title: 'Export my data', about: 'download, JSON', href: '/api/me/export' },
  { title: 'Import from WakaTime', about: 'history, file', href: '/account/editors#import' },
  { title: 'Connect an editor', about: 'extension, plugin, set up', href: '/account/editors' },
  { title: 'Change time zone', about: 'hours', href: '/account#zone' },
  { title: 'Sign out', about: 'log out, everywhere, sessions', href: '/account#sessions' },
  { title: 'Delete my account', about: 'remove', href: '/account/privacy#deletion' },
]

export const actionItems = (workspace: Workspace | undefined): Item[] => {
  const start = `/w/${workspace?.id}`
  const ofWorkspace = workspace
    ? [...(workspace.role === 'admin' ? ofAdmins(start, workspace.id) : []), ...ofMembers(start)]
    : []
  return [
    ...ofWorkspace.filter(({ title }) => !workspace?.personal || !SHARED.includes(title)),
    ...ofAccount,
    { title: 'Create access key', about: 'new token, script', href: '/account/editors?new=key' },
    ...themes
      .filter((one) => one !== theme.value)
      .map((one) => ({
        title: one === 'system' ? 'Use the system theme' : `Use the ${one} theme`,
        about: 'dark mode, light mode, colors, appearance',
        run: () => {
          setTheme(one)
          announce(`Theme: ${capitalized(one)}`)
        },
      })),
    {
      title: 'Create or join a workspace',
      about: 'new workspace, workspaces, invite code',
      run: () => openPanel('workspaces'),
    },
    {
      title: 'Show keyboard shortcuts',
      about: 'help',
      keys: singleKeys.value ? '?' : undefined,
      run: () => openPanel('help'),
    },
  ].map((action) => ({ kind: 'Action', ...action }))
}
