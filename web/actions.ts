/** Actions of the search: ranges, the theme, dialogs, and the documentation. */
import { announce } from './announce.js'
import { capitalized, days } from './format.js'
import type { Workspace } from './me.js'
import { namedRanges, presetsOf } from './query.js'
import { openPanel } from './shortcuts.js'
import { setTheme, theme, themes } from './theme.js'

export interface Item {
  kind: string
  title: string
  /** More text for the search to match. */
  about?: string
  href?: string
  /** Runs instead of changing the screen. */
  run?: () => void
}

/** The reference's guides, by the ends of their addresses. */
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
  return [...presetsOf(isWeekly), ...(isWeekly ? [] : namedRanges())].map(([name, range]) => ({
    kind: 'Range',
    title: `Show ${name.toLowerCase()}`,
    about: `range, dates ${days(range.from, range.to)}`,
    href: `${target}?${new URLSearchParams({ ...(hasRange && filters), ...range })}`,
  }))
}

export const actionItems = (workspace: Workspace | undefined): Item[] => {
  const isAdmin = workspace?.role === 'admin'
  const start = `/w/${workspace?.id}`
  return [
    ...(isAdmin && !workspace.personal
      ? [{ title: 'Invite people', about: 'add a member, new invite', href: `${start}/people?new=invite` }]
      : []),
    ...(isAdmin
      ? [
          {
            title: 'Create workspace key',
            about: 'new token, build job',
            href: `${start}/settings/integrations?new=key`,
          },
        ]
      : []),
    { title: 'Create access key', about: 'new token, script', href: '/account/editors?new=key' },
    ...themes
      .filter((one) => one !== theme.value)
      .map((one) => ({
        title: one === 'system' ? 'Use the system theme' : `Use the ${one} theme`,
        about: 'dark mode, light mode, colours, appearance',
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
      about: 'keys, help',
      run: () => openPanel('help'),
    },
  ].map((action) => ({ kind: 'Action', ...action }))
}
