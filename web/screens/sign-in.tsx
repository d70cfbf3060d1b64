import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { call, ended, expired, forgetSeen, renew, signedIn, useAct } from '../api.js'
import { start } from '../start.js'
import { useTitle } from '../title.js'
import { FailureNote, Form, Person } from '../ui.js'

const host = start.repohost_url && new URL(start.repohost_url).host

/** A failed login comes back to the beginning; this is where one wanted to go. */
const WANTED = 'wanted'

const place = () => location.pathname + location.search + location.hash

/** What came with the address after a failed login, said in words. */
const loginFailure = (): string | undefined => {
  const code = new URLSearchParams(location.search).get('auth_error')
  if (code === null) return undefined
  const said: Record<string, string> = {
    access_denied: `You said no at ${host}. Nothing was changed.`,
    upstream_failed: `${host} did not answer as it should. Try again in a while.`,
    oauth_state_invalid: 'The login took too long, or was begun in another browser. Try again.',
    oauth_not_configured: 'This installation has no browser login. Use a token.',
    rate_limited: 'There were too many logins from here. Wait a minute.',
  }
  return said[code] ?? 'The login failed. Try again.'
}

/** Signs in and goes on where one was. With `again`, on top of what is still there. */
export const SignIn = ({ again = false }: { again?: boolean }) => {
  const [token, type] = useState('')
  const { busy, failure, act } = useAct()
  const { route } = useLocation()
  const [failed] = useState(loginFailure)
  useEffect(() => {
    if (failed) route(sessionStorage.getItem(WANTED) ?? location.pathname, true)
  }, [])
  const hasPeople = start.people.length > 0

  const signIn = async (repohost_token: string) => {
    const done = await act(() => call('POST /api/auth/verify', { body: { repohost_token, cookie: true } }))
    if (!done) return
    forgetSeen()
    ended.value = false
    expired.value = false
    signedIn.value = true
    renew()
  }

  const ways = (
    <div class="stack tight">
      {failure && <FailureNote failure={failure} />}
      {hasPeople && (
        <>
          <ul class="people stack tight" aria-label="People of the demo">
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
          <p class="or">or as yourself</p>
        </>
      )}
      {start.oauth && (
        <>
          <a
            class={`button ${hasPeople ? '' : 'primary'}`}
            href={`/api/auth/repohost?return_to=${encodeURIComponent(place())}`}
            onClick={() => sessionStorage.setItem(WANTED, place())}
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
                // It may be somebody else.
                forgetSeen()
                renew()
              }}
            >
              I have signed in in the other tab
            </button>
          )}
          <p class="or">or with a token</p>
        </>
      )}
      <Form
        class="stack tight"
        onSubmit={() => {
          signIn(token.trim())
        }}
      >
        <label class="field">
          Token of {host}
          <input
            class="wide-input"
            type="password"
            required
            maxLength={255}
            autocomplete="off"
            value={token}
            onInput={(event) => type(event.currentTarget.value)}
            aria-invalid={failure?.code === 'repohost_token_invalid'}
            aria-describedby="token-help"
          />
        </label>
        <p id="token-help" class="small muted">
          <a
            href={`${start.repohost_url}/settings/tokens/new?description=Team%20activity`}
            target="_blank"
            rel="noreferrer"
          >
            Make one at {host}
          </a>
          . It needs no scope: it only shows who you are, once, and is not kept.
        </p>
        <button type="submit" class={hasPeople || start.oauth ? '' : 'primary'} aria-disabled={busy}>
          Sign in with the token
        </button>
      </Form>
    </div>
  )
  if (again) return ways
  return <Alone failed={failed}>{ways}</Alone>
}

const Alone = ({ failed, children }: { failed: string | undefined; children: preact.ComponentChildren }) => {
  useTitle('Sign in', 'sign-in')
  const joins = location.pathname.startsWith('/join/')
  return (
    <main class="signing">
      <div class="card stack">
        <div>
          <h1>{joins ? 'Sign in to see what you are invited to' : 'See what your team is working on'}</h1>
          <p class="muted">
            {start.people.length > 0
              ? 'A demo with made-up people. Be one of them:'
              : 'Active time, commits and issues; and your own numbers, whoever you are.'}
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
