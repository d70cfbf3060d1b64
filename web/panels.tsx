/** The search, which can also run commands, and the list of keys. Both load with the screens that rarely open first. */
import { useEffect, useId, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { own } from '../schemas/own.js'
import { actionItems, guideItems, type Item, rangeItems } from './actions.js'
import { repoAddress } from './addresses.js'
import { useRead } from './api.js'
import { counted, visible } from './format.js'
import { homeOf, switchTo } from './home.js'
import type { Me, Workspace } from './me.js'
import { useProjects } from './projects.js'
import { propertiesOf, useSchema } from './schema.js'
import { KeyText, settingAddress } from './setting-key.js'
import { closePanel, isMac, setSingleKeys, singleKeys } from './shortcuts.js'
import { Dialog } from './ui.js'

const ofAdmins: [title: string, path: string, about: string][] = [['Team', '', 'dashboard, numbers']]

const ofSettings: [title: string, path: string, about: string][] = [
  ['Audit', '/settings/audit', 'audit trail, changes'],
  ['General settings', '/settings/general', 'rename, patterns, delete'],
]

const pagesOf = (workspace: Workspace | undefined): Item[] => {
  const own: [title: string, path: string, about?: string][] = workspace
    ? [
        ...(workspace.role === 'admin' ? ofAdmins : []),
        ['My activity', '/me', 'my numbers, hours'],
        ['People', '/people', 'members, roles, invites, leave'],
        ['Repositories', '/repos', 'overrides, pushed settings'],
        ['Editor settings', '/settings', 'idle window, locks, versions, file, roll back'],
        ['Privacy', '/settings/privacy', 'privacy level, who sees numbers'],
        [
          'Integrations',
          '/settings/integrations',
          'webhook, commits, organization, access keys, tokens, build jobs',
        ],
        ...(workspace.role === 'admin' ? ofSettings : []),
      ]
    : []
  const account: [title: string, path: string, about: string][] = [
    ['Profile', '/account', 'account, plan, billing, time zone, theme, sessions, sign out everywhere'],
    ['Privacy and data', '/account/privacy', 'recording, pause, views, export, delete my account'],
    ['Editors and keys', '/account/editors', 'WakaTime, heartbeats, import, access keys, tokens, scripts'],
  ]
  return [
    ...own.map(([title, path, about = '']) => ({
      kind: 'Page',
      title,
      about: `${workspace?.name} ${about}`,
      href: `/w/${workspace?.id}${path}`,
    })),
    ...account.map(([title, href, about]) => ({ kind: 'Page', title, about, href })),
  ]
}

/** Everything that can be searched. People and settings come from one workspace. */
const useItems = (me: Me, workspace: Workspace | undefined): { items: Item[]; isLoading: boolean } => {
  const { path, query } = useLocation()
  const of = workspace && { path: { id: workspace.id } }
  const members = useRead('GET /api/team/workspaces/{id}/members', of && { ...of, query: { limit: 500 } })
  const settings = useRead('GET /api/team/workspaces/{id}/settings', of)
  const known = useProjects()
  const schema = useSchema()
  const keys = [...Object.keys(settings.data?.settings ?? {}), ...Object.keys(propertiesOf(schema.data))]
  const seesPeople = workspace?.role === 'admin' && workspace.activity_privacy === 'named'
  return {
    isLoading: (of !== undefined && !members.data && !members.failure) || known.isLoading,
    items: [
      ...pagesOf(workspace),
      ...actionItems(workspace),
      ...rangeItems(workspace, { path, query: query as Record<string, string> }),
      ...me.workspaces.map((one) => ({
        kind: 'Workspace',
        title: visible(one.name),
        href: switchTo(one, path),
      })),
      ...(members.data?.members ?? []).map(({ login }) => ({
        kind: 'Person',
        title: login,
        href: seesPeople
          ? `/w/${workspace.id}?member=${encodeURIComponent(login)}`
          : `/w/${workspace?.id}/people`,
      })),
      ...known.projects.map(({ owner, repo, workspace_id, workspace_name }) => ({
        kind: 'Repository',
        title: `${owner}/${repo}`,
        about: workspace_name,
        href: repoAddress(workspace_id, { owner, repo }),
      })),
      ...[...new Set(keys)].map((key) => ({
        kind: 'Setting',
        title: key,
        href: settingAddress(workspace?.id, key),
      })),
      ...guideItems(),
    ],
  }
}

const MAX_RESULTS = 12
/** The result groups, in the order in which equally good ones are shown. */
const GROUPS = new Map([
  ['Page', 'Pages'],
  ['Action', 'Actions'],
  ['Range', 'Ranges'],
  ['Workspace', 'Workspaces'],
  ['Person', 'People'],
  ['Repository', 'Repositories'],
  ['Setting', 'Settings'],
  ['Guide', 'Guides'],
])
/** Suggestions before anything is typed. */
const AT_FIRST = ['Page', 'Action', 'Workspace']

const plain = (text: string): string => text.toLowerCase().replace(/[‘’]/g, "'")

/**
 * How well an entry matches: the whole title, its start or any part of it, the description as typed, or just all words.
 */
const rankOf = (title: string, text: string, sought: string): number => {
  if (title === sought) return 0
  if (title.startsWith(sought) || title.includes(`/${sought}`)) return 1
  if (title.includes(sought)) return 2
  return text.includes(sought) ? 3 : 4
}

/** Opening a guide leaves the page, so a guide whose title matches ranks below the page's own entries. */
const GUIDE_RANK = 3

/** The entries with all words, in groups, with the best group first. */
const searchIn = (items: Item[], query: string): Item[] => {
  const sought = plain(query.trim())
  if (!sought) return items.filter(({ kind }) => AT_FIRST.includes(kind)).slice(0, 2 * MAX_RESULTS)
  const words = sought.split(/\s+/)
  const ranked = items.flatMap((item) => {
    const title = plain(item.title)
    // Descriptions are searched only for longer texts, because almost every one contains any given letter.
    const text = sought.length > 1 ? plain(`${title} ${item.kind} ${item.about ?? ''}`) : title
    if (!words.every((word) => text.includes(word))) return []
    const rank = rankOf(title, text, sought) + (item.kind === 'Guide' ? GUIDE_RANK : 0)
    return [{ item, rank, group: [...GROUPS.keys()].indexOf(item.kind) }]
  })
  const shown = ranked.sort((a, b) => a.rank - b.rank || a.group - b.group).slice(0, MAX_RESULTS)
  const groups = [...new Set(shown.map(({ group }) => group))]
  return shown
    .sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.rank - b.rank)
    .map(({ item }) => item)
}

/** `typed` is the text typed before this was loaded. */
export const SearchPanel = (props: { me: Me; workspace: Workspace | undefined; typed: string }) => {
  const { me, workspace, typed } = props
  const { items, isLoading } = useItems(me, workspace ?? homeOf(me))
  const [query, search] = useState(typed)
  const [at, move] = useState(0)
  const id = useId()
  const found = searchIn(items, query)
  const chosen = found[Math.min(at, found.length - 1)]
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const onKeyDown = (event: KeyboardEvent) => {
    const last = found.length - 1
    const targets: Record<string, number> = {
      ArrowDown: at >= last ? 0 : at + 1,
      ArrowUp: at <= 0 ? last : at - 1,
    }
    const target = own(targets, event.key)
    if (event.key === 'Enter' && chosen) document.getElementById(`${id}-${found.indexOf(chosen)}`)?.click()
    else if (target === undefined) return
    else move(target)
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <Dialog title="Search" class="finder" onClose={() => closePanel('search')}>
      <div class="stack tight">
        <input
          class="wide-input"
          type="text"
          role="combobox"
          aria-label="Search or run a command"
          placeholder="A page, a repository, a person, “invite”, “dark”, “last month” …"
          autocomplete="off"
          aria-expanded={found.length > 0}
          aria-controls={id}
          aria-activedescendant={chosen && `${id}-${found.indexOf(chosen)}`}
          value={query}
          onInput={(event) => {
            search(event.currentTarget.value)
            move(0)
          }}
          onKeyDown={onKeyDown}
        />
        <div id={id} class="results" role="listbox" aria-label="Results" tabIndex={-1}>
          {found.map((item, index) => [
            item.kind !== found[index - 1]?.kind && (
              <p key={item.kind} class="small muted group" role="presentation">
                {GROUPS.get(item.kind)}
              </p>
            ),
            <a
              key={`${item.kind} ${item.title} ${item.href}`}
              id={`${id}-${index}`}
              href={item.href}
              role="option"
              tabIndex={-1}
              aria-selected={item === chosen}
              // The focus stays in the field.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => {
                closePanel('search')
                item.run?.()
              }}
            >
              <bdi class="grow">
                <KeyText name={item.title} />
              </bdi>
              {item.keys && <kbd>{item.keys}</kbd>}
              <span class="away">{item.kind}</span>
            </a>,
          ])}
        </div>
        <p class="small muted" role="status">
          {found.length === 0 && (isLoading ? 'Loading…' : `No results for “${query}”.`)}
          {found.length > 0 && <span class="away">{counted(found.length, 'result')}</span>}
        </p>
      </div>
    </Dialog>
  )
}

const shortcuts: [keys: string, about: string][] = [
  [isMac ? '⌘ K' : 'Ctrl K', 'Search or run a command'],
  ['/', 'Search on this screen, or everything'],
  ['?', 'Show keyboard shortcuts'],
  ['W, M, P, Q', 'Show this week, this month, last month or this quarter'],
  [', and .', 'Show the previous or the next range'],
  ['Arrow keys', 'Move in menus, tabs and tables, and read charts'],
  ['Home, End', 'Go to the first or last item'],
  ['Esc', 'Close a menu or a dialog'],
]

export const HelpPanel = () => (
  <Dialog title="Keyboard shortcuts" onClose={() => closePanel('help')}>
    <dl class="keys">
      {shortcuts.map(([keys, about]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
    <div class="row end">
      <label class="check grow">
        <input
          type="checkbox"
          checked={singleKeys.value}
          onChange={(event) => setSingleKeys(event.currentTarget.checked)}
        />
        <span>Use single-key shortcuts</span>
      </label>
      <button type="button" onClick={() => closePanel('help')}>
        Close
      </button>
    </div>
  </Dialog>
)
