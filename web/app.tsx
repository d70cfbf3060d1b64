/** The frame of every screen: header, navigation, sign-in and failures. */

import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { movedAddress } from './addresses.js'
import { announced } from './announce.js'
import { call, checkConnection, clearCache, expired, offline, signedIn, useAction, useRead } from './api.js'
import { visible } from './format.js'
import { hasStepsLeft, homeOf, rememberWorkspace, startOf, switchTo } from './home.js'
import { type Me, MeContext, useMe, useWorkspace, type Workspace, WorkspaceContext } from './me.js'
import { Menu } from './menu.js'
import { rest, useRest } from './rest.js'
import { MyActivity } from './screens/my-activity.js'
import { SignIn } from './screens/sign-in.js'
import { Team } from './screens/team.js'
import { closePanel, isMac, openPanel, panel } from './shortcuts.js'
import { nextTheme, theme } from './theme.js'
import { PRODUCT, useTitle } from './title.js'
import { Toasts } from './toast.js'
import { Arrow, Dialog, FailureNote, Mark, NumbersSkeleton, Person, Skeleton } from './ui.js'

const People = lazy(() => rest().then(({ People }) => People))
const Repositories = lazy(() => rest().then(({ Repositories }) => Repositories))
const Repository = lazy(() => rest().then(({ Repository }) => Repository))
const Settings = lazy(() => rest().then(({ Settings }) => Settings))
const Snapshots = lazy(() => rest().then(({ Snapshots }) => Snapshots))
const Account = lazy(() => rest().then(({ Account }) => Account))
const Editors = lazy(() => rest().then(({ Editors }) => Editors))
const Funnel = lazy(() => rest().then(({ Funnel }) => Funnel))
const Join = lazy(() => rest().then(({ Join }) => Join))
const Privacy = lazy(() => rest().then(({ Privacy }) => Privacy))
const Welcome = lazy(() => rest().then(({ Welcome }) => Welcome))

/** The page's paths. The browser loads all others, such as the API reference. */
const OWN_PATHS = /^\/(?:$|[?#]|w\/|s\/|join\/|account|funnel)/

export const App = () => (
  <LocationProvider scope={OWN_PATHS}>
    <Frame />
  </LocationProvider>
)

const Frame = () => {
  const { path, route } = useLocation()
  const moved = movedAddress(path)
  useEffect(() => {
    if (!moved) return
    if (path === '/account/workspaces') openPanel('workspaces')
    route(moved + location.search + location.hash, true)
  }, [moved])
  if (moved) return null
  // These pages need no sign-in: operators use an admin key, and a mistyped path has nothing to protect.
  if (path === '/funnel' || (!OWN_PATHS.test(path) && !signedIn.value)) {
    return (
      <Page>
        <Router>
          <Route path="/funnel" component={Funnel} />
          <Route default component={NotFound} />
        </Router>
      </Page>
    )
  }
  if (!signedIn.value) return <SignIn />
  return (
    <>
      <SignedIn />
      {expired.value && (
        <Dialog
          title="Your session has ended"
          onClose={() => {
            expired.value = false
          }}
        >
          <p>Sign in again to continue. Your input is kept.</p>
          <SignIn again />
        </Dialog>
      )}
    </>
  )
}

const SignedIn = () => {
  const { path, query } = useLocation()
  const response = useRead('GET /api/team/me', {})
  const me = response.data
  // Repository settings are opened from a workspace, and the header keeps showing that workspace.
  const id = path.match(/^\/w\/([^/]+)/)?.[1] ?? (path.startsWith('/s/') ? query.workspace : undefined)
  const workspace = me?.workspaces.find((one) => one.id === id)
  // Fetched after the numbers, which matter most.
  const notices = useRead('GET /api/me/notices', me && {}).data?.notices
  const later = useRest(!!notices)
  useEffect(() => {
    if (workspace) rememberWorkspace(workspace.id)
  }, [workspace?.id])
  return (
    <Page
      me={me}
      // Account pages stay in the last workspace.
      workspace={workspace ?? (me && path.startsWith('/account') ? homeOf(me) : undefined)}
      // People without a workspace stay on the home page, which has no tabs.
      inWorkspace={id !== undefined || (path === '/' && me?.workspaces.length !== 0)}
      failure={response.failure && <FailureNote failure={response.failure} again={response.again} />}
    >
      {!me && !response.failure && <Skeleton height={600} />}
      {!me && response.failure?.code === 'pro_required' && (
        // People without a subscription can start one.
        <Router>
          <Route path="/account" component={Account} />
          <Route path="/account/editors" component={Editors} />
          <Route default component={() => null} />
        </Router>
      )}
      {me && (
        <MeContext.Provider value={{ ...me, again: response.again }}>
          {id !== undefined && !workspace ? (
            <NotFound />
          ) : (
            <WorkspaceContext.Provider value={workspace as Workspace}>
              {later && <later.AboveScreen notices={notices ?? []} />}
              {workspace &&
                hasStepsLeft(workspace) &&
                [`/w/${workspace.id}`, startOf(workspace)].includes(path) && (
                  <FirstSteps key={workspace.id} />
                )}
              <Router key={id}>
                <Route path="/" component={Home} />
                <Route path="/w/:id" component={TeamScreen} />
                <Route path="/w/:id/me" component={MyActivity} />
                <Route path="/w/:id/people" component={People} />
                <Route path="/w/:id/repos" component={Repositories} />
                <Route path="/w/:id/repos/:owner/:repo/:page?" component={Repository} />
                <Route path="/w/:id/settings/:page?" component={Settings} />
                <Route path="/s/:owner/:repo" component={Snapshots} />
                <Route path="/join/:code" component={Join} />
                <Route path="/account" component={Account} />
                <Route path="/account/editors" component={Editors} />
                <Route path="/account/privacy" component={Privacy} />
                <Route default component={NotFound} />
              </Router>
            </WorkspaceContext.Provider>
          )}
        </MeContext.Provider>
      )}
    </Page>
  )
}

const FirstSteps = () => {
  const workspace = useWorkspace()
  const later = useRest(true)
  return later ? <later.DismissibleFirstSteps workspace={workspace} /> : <Skeleton height={280} />
}

const TeamScreen = () => <Team steps={<FirstSteps />} />

/** Opens the screen where the person works. Addresses from before the screens had their own paths still work. */
const Home = () => {
  const me = useMe()
  const { query, route } = useLocation()
  const { workspace: id, ...filters } = query as Record<string, string>
  const workspace = me.workspaces.find((one) => one.id === id) ?? homeOf(me)
  const text = new URLSearchParams(filters).toString()
  const target =
    location.hash === '#about-me'
      ? '/account/privacy'
      : workspace && `${startOf(workspace)}${text && `?${text}`}`
  useEffect(() => {
    if (target) route(target, true)
  }, [target])
  return target ? <NumbersSkeleton /> : <Welcome />
}

const NotFound = () => {
  useTitle('Page not found')
  return (
    <div class="stack narrow">
      <h1>Page not found</h1>
      <p>
        The address may be wrong, the workspace may have been deleted, or you may not be a member. Ask an
        admin for an invite.
      </p>
      <p>
        <a class="button primary" href="/">
          Go to the home page
        </a>
      </p>
    </div>
  )
}

const signOut = async () => {
  await call('POST /api/auth/logout', { body: {} })
  clearCache()
  location.assign('/')
}

/** Keeps the frame when a screen fails to render. */
const ErrorBoundary = ({ children }: { children: preact.ComponentChildren }) => {
  const { path } = useLocation()
  // Remembered responses may have caused the error, so they are dropped.
  const [error, forget] = useErrorBoundary(clearCache)
  useEffect(forget, [path])
  if (!error) return <>{children}</>
  return (
    <div class="note fault stack tight" role="alert">
      <div>
        <strong>Can’t show this page.</strong> The service may have been updated.
      </div>
      <div>
        <button type="button" onClick={() => location.reload()}>
          Reload page
        </button>
      </div>
    </div>
  )
}

const Page = (props: {
  me?: Me | undefined
  workspace?: Workspace | undefined
  /** The address names a workspace. It may not be loaded yet, or may not exist for this person. */
  inWorkspace?: boolean
  failure?: preact.ComponentChildren
  children: preact.ComponentChildren
}) => {
  const { me, workspace } = props
  const { path } = useLocation()
  const signingOut = useAction()
  useEffect(() => {
    // Menus close when the screen changes.
    for (const menu of document.querySelectorAll<HTMLElement>('[popover=auto]:popover-open'))
      menu.hidePopover()
  }, [path])
  return (
    <>
      <a class="away" href="#content">
        Skip to content
      </a>
      <header class="top">
        <div class="bar-row">
          <a class="brand" href="/">
            <Mark />
            <span class="label">{PRODUCT}</span>
          </a>
          <div class="grow">
            {me && (
              <Menu
                label="Workspaces"
                button={
                  <>
                    {workspace && <span class="away">Workspace: </span>}
                    <strong>
                      <bdi>{workspace ? visible(workspace.name) : 'Workspaces'}</bdi>
                    </strong>
                    <Arrow />
                  </>
                }
              >
                {me.workspaces.map((one) => (
                  <li key={one.id}>
                    <a
                      href={switchTo(one, path)}
                      aria-current={one.id === workspace?.id ? 'true' : undefined}
                    >
                      <bdi class="grow">{visible(one.name)}</bdi>
                      <span class="tag">{one.role}</span>
                    </a>
                  </li>
                ))}
                <li class="apart">
                  <button type="button" onClick={() => openPanel('workspaces')}>
                    Create or join a workspace
                  </button>
                </li>
              </Menu>
            )}
          </div>
          {me && (
            <button
              type="button"
              class="plain search"
              aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
              title={isMac ? 'Search (⌘ K)' : 'Search (Ctrl K)'}
              onClick={() => openPanel('search')}
            >
              <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
                <circle cx="7" cy="7" r="4.5" fill="none" stroke="currentcolor" stroke-width="1.5" />
                <path d="M10.5 10.5L14 14" stroke="currentcolor" stroke-width="1.5" />
              </svg>
              <span class="label">
                Search{' '}
                <span class="kbd" aria-hidden="true">
                  {isMac ? '⌘ K' : 'Ctrl K'}
                </span>
              </span>
            </button>
          )}
          <button
            type="button"
            class="plain"
            onClick={nextTheme}
            aria-label={`Change theme (${theme.value})`}
            title={`Change theme (${theme.value})`}
          >
            <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentcolor" stroke-width="1.5" />
              <path
                d={
                  theme.value === 'system'
                    ? 'M8 1.5a6.5 6.5 0 0 1 0 13z'
                    : theme.value === 'dark'
                      ? 'M8 1.5a6.5 6.5 0 0 1 0 13a6.5 6.5 0 0 1 0-13z'
                      : ''
                }
                fill="currentcolor"
              />
            </svg>
          </button>
          {me && (
            <Menu label="Your account" align="end" button={<Person login={me.login} />}>
              {accountTabs.map(([target, title]) => (
                <li key={target}>
                  <a href={target}>{title}</a>
                </li>
              ))}
              <li class="apart">
                <a href="/api/docs">API reference</a>
              </li>
              <li>
                <button type="button" onClick={() => openPanel('help')}>
                  Keyboard shortcuts
                </button>
              </li>
              <li>
                <button type="button" onClick={() => signingOut.act(signOut)}>
                  Sign out
                </button>
              </li>
            </Menu>
          )}
        </div>
        {path.startsWith('/account') ? (
          <Tabs label="Account" tabs={accountTabs} path={path} />
        ) : workspace ? (
          <Tabs label="Workspace" tabs={workspaceTabs(workspace)} path={path} />
        ) : (
          props.inWorkspace && !props.failure && <div class={me ? 'tabs wait none' : 'tabs wait'} />
        )}
      </header>
      <p class="away" role="status">
        {announced.value}
      </p>
      <main id="content" tabIndex={-1}>
        <div class="stack">
          {offline.value && (
            <div class="note row apart" role="status">
              <span>
                <strong>Can’t reach the service.</strong> The numbers may be out of date. This page reconnects
                automatically.
              </span>
              <button type="button" onClick={checkConnection}>
                Reconnect now
              </button>
            </div>
          )}
          {signingOut.failure && <FailureNote failure={signingOut.failure} />}
          {!me && props.failure && <h1 class="away">{PRODUCT}</h1>}
          {props.failure}
          <ErrorBoundary>{props.children}</ErrorBoundary>
        </div>
        <a class="away" href="#content">
          Back to top
        </a>
      </main>
      <Toasts />
      {me && <Panels me={me} workspace={workspace} />}
    </>
  )
}

/** The search and other panels, whose code is loaded when the first one is opened. Text typed until then is kept. */
const Panels = (props: { me: Me; workspace: Workspace | undefined }) => {
  const typed = useRef('')
  const open = panel.value
  const loaded = useRest(!!open)
  useEffect(() => {
    if (!open) typed.current = ''
  }, [open])
  if (open === 'search' && !loaded) {
    return (
      <Dialog title="Search" class="finder" onClose={() => closePanel('search')}>
        <input
          class="wide-input"
          aria-label="Search or run a command"
          onInput={(event) => {
            typed.current = event.currentTarget.value
          }}
        />
        <p class="small muted">Loading…</p>
      </Dialog>
    )
  }
  if (!open || !loaded) return null
  if (open === 'workspaces') return <loaded.WorkspacesPanel me={props.me} />
  return open === 'search' ? <loaded.SearchPanel {...props} typed={typed.current} /> : <loaded.HelpPanel />
}

type Tab = [target: string, title: string]

const accountTabs: Tab[] = [
  ['/account', 'Profile'],
  ['/account/privacy', 'Privacy and data'],
  ['/account/editors', 'Editors and keys'],
]

const workspaceTabs = ({ id, role }: Workspace): Tab[] => [
  ...(role === 'admin' ? [[`/w/${id}`, 'Team'] satisfies Tab] : []),
  [`/w/${id}/me`, 'My activity'],
  [`/w/${id}/repos`, 'Repositories'],
  [`/w/${id}/people`, 'People'],
  [`/w/${id}/settings`, 'Settings'],
]

const Tabs = ({ label, tabs, path }: { label: string; tabs: Tab[]; path: string }) => {
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On phones not all tabs fit, so the current one is moved into view.
    const current = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current && current) {
      nav.current.scrollLeft = current.offsetLeft - (nav.current.clientWidth - current.offsetWidth) / 2
    }
  }, [path])
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      <ul>
        {tabs.map(([target, title]) => (
          <li key={target}>
            <a
              href={target}
              aria-current={
                path === target ||
                (title === 'Repositories' && path.startsWith('/s/')) ||
                (['Repositories', 'Settings'].includes(title) && path.startsWith(`${target}/`))
                  ? 'page'
                  : undefined
              }
            >
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
