import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { RepohostKind } from '../../schemas/common.js'
import { own } from '../../schemas/own.js'
import {
  call,
  clearCache,
  ended,
  expired,
  missingScope,
  refresh,
  signedIn,
  useAction,
  useRead,
} from '../api.js'
import { start } from '../start.js'
import { PRODUCT, useTitle } from '../title.js'
import { FailureNote, Form, Mark, Person } from '../ui.js'

const host = start.repohost_name

const SCOPES: Record<RepohostKind, string> = {
  github: 'It needs no scope.',
  gitlab: 'It needs the scope read_user.',
  forgejo: 'It needs the permission read:user.',
}

/** Stores the address to return to, because a failed sign-in returns to `/`. */
const RETURN_TO = 'return-to'

const place = () => location.pathname + location.search + location.hash

/** A failed sign-in, from `auth_error` in the address. */
const signInFailure = (): string | undefined => {
  const code = new URLSearchParams(location.search).get('auth_error')
  if (code === null) return undefined
  const texts: Record<string, string> = {
    access_denied: `You declined access on ${host}. Nothing has changed.`,
    upstream_failed: `${host} returned an unexpected response. Try again later.`,
    oauth_state_invalid: 'The sign-in took too long or started in another browser. Try again.',
    oauth_not_configured: 'This installation has no browser sign-in. Use a token.',
    account_deleted:
      'Your account is deleted, and you’re signed out everywhere. If you sign in again, you get a new account.',
    account_disabled: 'The operator of this service disabled your account. Contact the operator.',
    rate_limited: 'Too many sign-ins from your network. Wait a minute, then try again.',
  }
  return own(texts, code) ?? 'Sign-in failed. Try again.'
}

/** Signs in and stays at the address. With `again`, it's the content of a dialog on top of the page. */
export const SignIn = ({ again = false }: { again?: boolean }) => {
  const [token, type] = useState('')
  const { busy, failure, act } = useAction()
  const isTokenWrong = failure?.code === 'repohost_token_invalid'
  const { route } = useLocation()
  const [failed] = useState(signInFailure)
  useEffect(() => {
    if (failed) route(sessionStorage.getItem(RETURN_TO) ?? location.pathname, true)
  }, [])
  const hasPeople = start.people.length > 0

  const signIn = async (repohost_token: string) => {
    const done = await act(async () => {
      const { data } = await call('POST /api/auth/verify', { body: { repohost_token, cookie: true } })
      missingScope.value = data.missing_scope
    })
    if (!done) return
    clearCache()
    ended.value = false
    expired.value = false
    signedIn.value = true
    refresh()
  }

  const methods = (
    <div class="stack tight">
      {failure && !isTokenWrong && <FailureNote failure={failure} />}
      {hasPeople && (
        <>
          <ul class="people stack tight" aria-label="Demo people">
            {start.people.map(({ login, about, repohost_token }, index) => (
              <li key={login}>
                <button
                  type="button"
                  class={index === 0 ? 'primary' : ''}
                  aria-disabled={busy}
                  onClick={() => signIn(repohost_token)}
                >
                  <Person login={login} />
                  <span>{about}</span>
                </button>
              </li>
            ))}
          </ul>
          <p class="or">or try the simulated GitHub sign-in (as ada)</p>
        </>
      )}
      {start.oauth && (
        <>
          <a
            class={`button ${hasPeople ? '' : 'primary'}`}
            href={`/api/auth/repohost?return_to=${encodeURIComponent(place())}`}
            onClick={() => sessionStorage.setItem(RETURN_TO, place())}
            target={again ? '_blank' : undefined}
            rel="noreferrer"
          >
            Sign in with {host}
          </a>
          {again && (
            <button
              type="button"
              onClick={() => {
                ended.value = false
                expired.value = false
                // Another person may have signed in.
                clearCache()
                refresh()
              }}
            >
              Continue after signing in
            </button>
          )}
          <p class="or">or use a token</p>
        </>
      )}
      <Form
        class="stack tight"
        onSubmit={() => {
          signIn(token.trim())
        }}
      >
        <label class="field">
          {host} access token
          <input
            class="wide-input"
            type="password"
            required
            autocomplete="off"
            value={token}
            onInput={(event) => type(event.currentTarget.value)}
            aria-invalid={isTokenWrong}
            aria-describedby={isTokenWrong ? 'token-failure token-help' : 'token-help'}
          />
        </label>
        {failure && isTokenWrong && (
          <div id="token-failure">
            <FailureNote failure={failure} />
          </div>
        )}
        <p id="token-help" class="small muted">
          <a href={start.repohost_token_url} target="_blank" rel="noreferrer">
            Create a token on {host}
          </a>
          . {SCOPES[start.repohost_kind]} The service uses it once to identify you and doesn’t store it.
        </p>
        <button type="submit" class={hasPeople || start.oauth ? '' : 'primary'} aria-disabled={busy}>
          Sign in with token
        </button>
      </Form>
      {!again && !hasPeople && (
        <details>
          <summary>No token, or no account on {host}?</summary>
          <div class="stack tight small">
            <p>
              To sign in, you need an account on {host}. To see your team, you also need an invite from one of
              its admins.
            </p>
            <p>
              To look around first, start the demo on your computer: run{' '}
              <span class="mono">npm run demo</span> in the source folder of this service. In the demo, you
              can sign in as made-up people. For more, read{' '}
              <a href="/api/docs/getting-started">Getting started</a>.
            </p>
          </div>
        </details>
      )}
    </div>
  )
  if (again) return methods
  return <SignInPage failed={failed}>{methods}</SignInPage>
}

const SignInPage = (props: { failed: string | undefined; children: preact.ComponentChildren }) => {
  const { failed, children } = props
  useTitle('Sign in', 'sign-in')
  const code = /^\/join\/([^/]+)/.exec(location.pathname)?.[1]
  // Without an answer, the person learns after the sign-in why the invite doesn't work.
  const { data: invite } = useRead(
    'GET /api/invites/{code}',
    code === undefined ? undefined : { path: { code: decodeURIComponent(code) } },
  )
  return (
    <main class="signing">
      <div class="card stack">
        <div class="stack tight">
          <Mark />
          <h1>{code === undefined ? `Sign in to ${PRODUCT}` : 'Sign in to view your invite'}</h1>
          {invite && (
            <p>
              <bdi>{invite.invited_by}</bdi> invites you to <bdi>{invite.workspace_name}</bdi>.
            </p>
          )}
          <p class="muted">
            Your team’s editor settings, its active time, commits and closed issues, and your own numbers.
            {start.people.length > 0 && ' This demo has made-up people. Sign in as one of them:'}
          </p>
        </div>
        {failed && (
          <div class="note" role="alert">
            {failed}
          </div>
        )}
        {children}
      </div>
    </main>
  )
}
