/** The frame of every screen: who one is, where one is, and what is the matter. */

import { useEffect, useErrorBoundary } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router'
import { announced } from './announce.js'
import { call, expired, forgetSeen, offline, signedIn, tryNow, useAct, useAsk } from './api.js'
import { visible } from './format.js'
import { type Me, MeContext, type Space, SpaceContext } from './me.js'
import { Mine } from './screens/mine.js'
import { SignIn } from './screens/sign-in.js'
import { Team } from './screens/team.js'
import { nextTheme, theme } from './theme.js'
import { useTitle } from './title.js'
import { Arrow, Dialog, FailureNote, Person, Wait } from './ui.js'

const LOADED = 'loaded-anew'
const OFTEN_MS = 30_000

/** Not over and over, where something else keeps the rest of the page away. */
const loadAnew = () => {
  const last = Number(sessionStorage.getItem(LOADED))
  sessionStorage.setItem(LOADED, String(Date.now()))
  setTimeout(() => location.reload(), Math.max(0, last + OFTEN_MS - Date.now()))
}

/** What is not seen first comes in one piece, so that the first numbers need few requests. */
const rest = () =>
  import('./screens/rest.js').catch(() => {
    // The service is away, or has another version of the page by now: the page is loaded anew once it answers.
    offline.value = true
    return new Promise<never>(() => offline.subscribe((isOffline) => isOffline || loadAnew()))
  })
const People = lazy(() => rest().then(({ People }) => People))
const Repositories = lazy(() => rest().then(({ Repositories }) => Repositories))
const Settings = lazy(() => rest().then(({ Settings }) => Settings))
const Audit = lazy(() => rest().then(({ Audit }) => Audit))
const Snapshots = lazy(() => rest().then(({ Snapshots }) => Snapshots))
const Account = lazy(() => rest().then(({ Account }) => Account))
const Funnel = lazy(() => rest().then(({ Funnel }) => Funnel))
const Join = lazy(() => rest().then(({ Join }) => Join))

/** The addresses that are the page's own; all others, such as the reference, are loaded. */
const OWN = /^\/(?:$|[?#]|w\/|s\/|join\/|account|funnel)/

export const App = () => (
  <LocationProvider scope={OWN}>
    <Frame />
  </LocationProvider>
)

const Frame = () => {
  const { path } = useLocation()
  // The operator has a key and need not be anybody; nor need who mistyped an address.
  if (path === '/funnel' || !OWN.test(path)) {
    return (
      <Page>
        <Router>
          <Route path="/funnel" component={Funnel} />
          <Route default component={Nowhere} />
        </Router>
      </Page>
    )
  }
  if (!signedIn.value) return <SignIn />
  return (
    <>
      <Known />
      {expired.value && (
        <Dialog
          title="Your session has ended"
          onClose={() => {
            expired.value = false
          }}
        >
          <p>Sign in again to go on. Nothing that you typed is lost.</p>
          <SignIn again />
        </Dialog>
      )}
    </>
  )
}

const Known = () => {
  const { path, query } = useLocation()
  const asked = useAsk('GET /api/team/me', {})
  const me = asked.data
  // What was pushed for a repository is looked at from a workspace, and one stays in it.
  const id = path.match(/^\/w\/([^/]+)/)?.[1] ?? (path.startsWith('/s/') ? query.workspace : undefined)
  const space = me?.workspaces.find((one) => one.id === id)
  return (
    <Page
      me={me}
      space={space}
      inSpace={id !== undefined}
      failure={asked.failure && <FailureNote failure={asked.failure} again={asked.again} />}
    >
      {!me && !asked.failure && <Wait height={600} />}
      {!me && asked.failure?.code === 'pro_required' && (
        // Who has no subscription can begin one.
        <Router>
          <Route path="/account" component={Account} />
          <Route default component={() => null} />
        </Router>
      )}
      {me && (
        <MeContext.Provider value={{ ...me, again: asked.again }}>
          {id !== undefined && !space ? (
            <Nowhere />
          ) : (
            <SpaceContext.Provider value={space as Space}>
              <Router key={id}>
                <Route path="/" component={Mine} />
                <Route path="/w/:id" component={Team} />
                <Route path="/w/:id/people" component={People} />
                <Route path="/w/:id/repos" component={Repositories} />
                <Route path="/w/:id/settings" component={Settings} />
                <Route path="/w/:id/audit" component={Audit} />
                <Route path="/s/:owner/:repo" component={Snapshots} />
                <Route path="/join/:code" component={Join} />
                <Route path="/account" component={Account} />
                <Route default component={Nowhere} />
              </Router>
            </SpaceContext.Provider>
          )}
        </MeContext.Provider>
      )}
    </Page>
  )
}

const Nowhere = () => {
  useTitle('Not found')
  return (
    <div class="stack narrow">
      <h1>There is nothing here for you</h1>
      <p>
        The address may be mistyped, the workspace deleted, or you are not a member of it: ask an admin for an
        invite.
      </p>
      <p>
        <a href="/">Go to your own activity</a>
      </p>
    </div>
  )
}

const signOut = async () => {
  await call('POST /api/auth/logout', { body: {} })
  forgetSeen()
  location.assign('/')
}

/** Keeps the frame when what is in it cannot be drawn. */
const Guard = ({ children }: { children: preact.ComponentChildren }) => {
  const { path } = useLocation()
  // What cannot be drawn is not to come from memory once more.
  const [error, forget] = useErrorBoundary(forgetSeen)
  useEffect(forget, [path])
  if (!error) return <>{children}</>
  return (
    <div class="note fault stack tight" role="alert">
      <div>
        <strong>This cannot be shown.</strong> What came is not what this page knows: perhaps one of the two
        is newer.
      </div>
      <div>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    </div>
  )
}

const Page = (props: {
  me?: Me | undefined
  space?: Space | undefined
  /** The address names one, which is perhaps not there yet, or not for this person. */
  inSpace?: boolean
  failure?: preact.ComponentChildren
  children: preact.ComponentChildren
}) => {
  const { me, space } = props
  const { path } = useLocation()
  const leaving = useAct()
  useEffect(() => {
    // Menus close when the place changes.
    for (const menu of document.querySelectorAll<HTMLElement>(':popover-open')) menu.hidePopover()
  }, [path])
  return (
    <>
      <a class="away" href="#content">
        To the content
      </a>
      <header class="top">
        <div class="bar-row">
          <a class="brand" href="/">
            <span class="away">Team activity: my own</span>
            <svg width="24" height="24" viewBox="0 0 16 16" aria-hidden="true">
              <rect width="16" height="16" rx="4" fill="var(--blue)" />
              <path
                d="M4 11V8M8 11V4M12 11V6"
                stroke="var(--on-blue)"
                stroke-width="2"
                stroke-linecap="round"
              />
            </svg>
          </a>
          <div class="grow">
            {me && (
              <>
                <button type="button" class="plain" popovertarget="spaces">
                  <span class="away">Workspace: </span>
                  <strong>
                    <bdi>{space ? visible(space.name) : 'My activity'}</bdi>
                  </strong>
                  <Arrow />
                </button>
                <nav popover="auto" id="spaces" aria-label="Workspaces">
                  <ul>
                    <li>
                      <a href="/" aria-current={path === '/' ? 'page' : undefined}>
                        My activity
                      </a>
                    </li>
                    {me.workspaces.map(({ id, name, role }) => (
                      <li key={id}>
                        <a
                          href={role === 'admin' ? `/w/${id}` : `/w/${id}/people`}
                          aria-current={id === space?.id ? 'page' : undefined}
                        >
                          <bdi class="grow">{visible(name)}</bdi>
                          <span class="tag">{role}</span>
                        </a>
                      </li>
                    ))}
                  </ul>
                </nav>
              </>
            )}
          </div>
          <button
            type="button"
            class="plain"
            onClick={nextTheme}
            aria-label={`Colours: ${theme.value}. Change`}
            title={`Colours: ${theme.value}`}
          >
            <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentcolor" stroke-width="1.5" />
              <path
                d={
                  theme.value === 'system'
                    ? 'M8 1.5a6.5 6.5 0 0 1 0 13z'
                    : theme.value === 'dark'
                      ? 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 1 1 0-13z'
                      : ''
                }
                fill="currentcolor"
              />
            </svg>
          </button>
          {me && (
            <>
              <button type="button" class="plain" popovertarget="self">
                <Person login={me.login} />
              </button>
              <nav popover="auto" class="right" id="self" aria-label="You">
                <ul>
                  <li>
                    <a href="/">My activity</a>
                  </li>
                  <li>
                    <a href="/#about-me">What is recorded about me</a>
                  </li>
                  <li>
                    <a href="/account">Account</a>
                  </li>
                  <li>
                    <a href="/api/docs">Reference of the API</a>
                  </li>
                  <li>
                    <button type="button" onClick={() => leaving.act(signOut)}>
                      Sign out
                    </button>
                  </li>
                </ul>
              </nav>
            </>
          )}
        </div>
        {space ? <Tabs space={space} path={path} /> : props.inSpace && <div class="tabs wait" />}
      </header>
      <p class="away" role="status">
        {announced.value}
      </p>
      <main id="content" tabIndex={-1}>
        <div class="stack">
          {offline.value && (
            <div class="note row apart" role="status">
              <span>
                <strong>The service cannot be reached.</strong> What you see may be old. Once it is back, this
                page goes on by itself.
              </span>
              <button type="button" onClick={tryNow}>
                Try now
              </button>
            </div>
          )}
          {leaving.failure && <FailureNote failure={leaving.failure} />}
          {!me && props.failure && <h1 class="away">Team activity</h1>}
          {props.failure}
          <Guard>{props.children}</Guard>
        </div>
        <a class="away" href="#content">
          To the beginning
        </a>
      </main>
    </>
  )
}

const Tabs = ({ space, path }: { space: Space; path: string }) => {
  const tabs = [
    ...(space.role === 'admin' ? [['', 'Team']] : []),
    ['/people', 'People'],
    ['/repos', 'Repositories'],
    ['/settings', 'Settings'],
    ...(space.role === 'admin' ? [['/audit', 'Audit']] : []),
  ]
  return (
    <nav class="tabs" aria-label="Workspace">
      <ul>
        {tabs.map(([end, title]) => {
          const target = `/w/${space.id}${end}`
          return (
            <li key={target}>
              <a
                href={target}
                aria-current={
                  path === target || (end === '/repos' && path.startsWith('/s/')) ? 'page' : undefined
                }
              >
                {title}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
