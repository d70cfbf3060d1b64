import { useState } from 'preact/hooks'
import { call, forgetSeen, useAct, useAsk } from '../api.js'
import { start } from '../start.js'
import { useTitle } from '../title.js'
import { FailureNote, Form, Person, Shown } from '../ui.js'

const statuses: Record<string, string> = {
  none: 'No subscription',
  trialing: 'On trial',
  active: 'Paid',
  past_due: 'A payment failed: settle it soon',
  canceled: 'Ended',
}

export const Account = () => {
  useTitle('Account')
  const asked = useAsk('GET /api/me', {})
  return (
    <div class="stack narrow">
      <h1>Account</h1>
      <Shown asked={asked} height={140}>
        {({ login, plan, status }) => (
          <section class="card stack tight" aria-labelledby="plan">
            <Person login={login} />
            <h2 id="plan">Plan: {plan}</h2>
            {(status !== 'none' || start.billing === 'on') && <p class="muted">{statuses[status]}.</p>}
            <Billing isCustomer={status !== 'none'} plan={plan} />
          </section>
        )}
      </Shown>
      <TimeZone />
      <Sessions />
      <p>
        What is recorded about you, export and deletion: <a href="/#about-me">My activity</a>.
      </p>
    </div>
  )
}

const Billing = ({ isCustomer, plan }: { isCustomer: boolean; plan: 'free' | 'pro' }) => {
  const { busy, failure, act } = useAct()
  const go = (operation: 'POST /api/billing/checkout' | 'POST /api/billing/portal') =>
    act(async () => {
      const { data } = await call(operation, { body: {} })
      location.assign(data.url)
    })
  const { billing } = start
  // Who pays can always stop; nobody begins where there is nothing to pay for.
  if (billing === 'off' || (billing === 'dormant' && !isCustomer)) {
    return (
      <p class="muted">
        {plan === 'pro'
          ? 'Everything is included here; there is nothing to pay.'
          : 'This installation has no billing: ask its operator.'}
      </p>
    )
  }
  return (
    <>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button
          type="button"
          aria-disabled={busy}
          onClick={() => go(isCustomer ? 'POST /api/billing/portal' : 'POST /api/billing/checkout')}
        >
          {isCustomer ? 'Manage the subscription' : 'Subscribe'}
        </button>
      </div>
    </>
  )
}

const named = (zone: string) => zone.replaceAll('_', ' ')

const TimeZone = () => {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [zone, choose] = useState(here)
  const [saved, save] = useState(false)
  const { busy, failure, act } = useAct()
  return (
    <section class="card stack tight" aria-labelledby="zone">
      <h2 id="zone">Time zone</h2>
      <p class="muted">
        Your heatmap, your share of the team’s, and the hours in which you are recorded are in the zone that
        was set last: here, or by your editor extension, which sends its own with what it counts. Unless one
        was set it is UTC.
      </p>
      <p class="muted">
        Days are UTC days everywhere, and moments are shown in the zone of this browser: {named(here)}.
      </p>
      <Form
        class="row"
        onSubmit={() => {
          act(() => call('POST /api/team/active-minutes', { body: { entries: [], timezone: zone } })).then(
            save,
          )
        }}
      >
        <select
          aria-label="Time zone"
          value={zone}
          onChange={(event) => {
            choose(event.currentTarget.value)
            save(false)
          }}
        >
          {[...new Set([here, ...Intl.supportedValuesOf('timeZone')])].map((name) => (
            <option key={name} value={name}>
              {named(name)}
            </option>
          ))}
        </select>
        <button type="submit" aria-disabled={busy}>
          Set
        </button>
        <span role="status" class="muted">
          {saved && 'Saved.'}
        </span>
      </Form>
      {failure && <FailureNote failure={failure} />}
    </section>
  )
}

const Sessions = () => {
  const { busy, failure, act } = useAct()
  const signOut = (everywhere: boolean) =>
    act(async () => {
      await call('POST /api/auth/logout', { body: { everywhere } })
      forgetSeen()
      location.assign('/')
    })
  return (
    <section class="card stack tight" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p class="muted">Everywhere means every browser and editor that was signed in before now.</p>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button type="button" aria-disabled={busy} onClick={() => signOut(false)}>
          Sign out here
        </button>
        <button type="button" class="danger" aria-disabled={busy} onClick={() => signOut(true)}>
          Sign out everywhere
        </button>
      </div>
    </section>
  )
}
