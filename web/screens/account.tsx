import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { own } from '../../schemas/own.js'
import { call, clearCache, useAction, useRead } from '../api.js'
import { capitalized } from '../format.js'
import { start } from '../start.js'
import { setTheme, theme, themes } from '../theme.js'
import { useTitle } from '../title.js'
import { toast } from '../toast.js'
import { Card, Choices, FailureNote, Form, Loaded, Person } from '../ui.js'

const statuses: Record<string, string> = {
  none: 'No subscription',
  trialing: 'Trial',
  active: 'Active',
  past_due: 'A payment failed. Update your payment method',
  canceled: 'Cancelled',
}

export const Account = () => {
  useTitle('Profile')
  const response = useRead('GET /api/me', {})
  return (
    <div class="stack narrow">
      <h1>Profile</h1>
      <Loaded response={response} height={340}>
        {(me) => (
          <>
            <section class="card stack tight" aria-label="You">
              <Person login={me.login} />
              <p class="muted">Signed in with {start.repohost_name}.</p>
              {start.billing === 'on' || me.status !== 'none' ? (
                <>
                  <h2>Plan: {me.plan}</h2>
                  <p class="muted">{own(statuses, me.status)}.</p>
                  <Billing isCustomer={me.status !== 'none'} />
                </>
              ) : (
                me.plan === 'free' && (
                  <p class="muted">Billing isn’t configured. Ask the operator for access.</p>
                )
              )}
            </section>
            <TimeZone me={me} again={response.again} />
          </>
        )}
      </Loaded>
      <Theme />
      <Sessions />
    </div>
  )
}

const Billing = ({ isCustomer }: { isCustomer: boolean }) => {
  const { busy, failure, act } = useAction()
  const go = (operation: 'POST /api/billing/checkout' | 'POST /api/billing/portal') =>
    act(async () => {
      const { data } = await call(operation, { body: {} })
      location.assign(data.url)
    })
  // Without billing, there's no portal.
  if (start.billing === 'off') return null
  return (
    <>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button
          type="button"
          aria-disabled={busy}
          onClick={() => go(isCustomer ? 'POST /api/billing/portal' : 'POST /api/billing/checkout')}
        >
          {isCustomer ? 'Manage subscription' : 'Subscribe'}
        </button>
      </div>
    </>
  )
}

const Theme = () => (
  <Card id="theme" title="Theme">
    <Choices
      label="Theme"
      options={themes.map((one) => [one, capitalized(one)] as const)}
      value={theme.value}
      onChoose={setTheme}
    />
  </Card>
)

const labelOfZone = (zone: string) => zone.replaceAll('_', ' ')

const TimeZone = ({ me, again }: { me: AnswerOf<'GET /api/me'>; again(): void }) => {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [zone, choose] = useState('')
  const { busy, failure, act } = useAction()
  const save = (timezone: string | null) =>
    act(async () => {
      await call('PUT /api/me/timezone', { body: { timezone } })
      choose('')
      again()
      toast(timezone === null ? 'Your editors set the time zone again' : 'Time zone saved')
    })
  return (
    <Card id="zone" title="Time zone">
      <p>
        <strong>{labelOfZone(me.timezone ?? 'UTC')}</strong>,{' '}
        {me.timezone_chosen
          ? 'chosen by you. Your editors don’t change it.'
          : me.timezone === null
            ? 'until an editor or this browser names another.'
            : `named by ${me.timezone === here ? 'this browser or an editor' : 'an editor or another browser'}, the last one that did. UTC never replaces another.`}
      </p>
      <p class="muted">
        Your days, weeks and recording hours are in this time zone. Activity that’s already recorded stays
        where it is.
      </p>
      <p class="muted">“Today” and times are in your browser’s time zone, {labelOfZone(here)}.</p>
      <Form class="row" onSubmit={() => save(zone)}>
        <select
          aria-label="Time zone"
          value={zone}
          onChange={(event) => {
            choose(event.currentTarget.value)
          }}
        >
          <option value="">Choose a time zone</option>
          {[...new Set([here, ...Intl.supportedValuesOf('timeZone')])].map((name) => (
            <option key={name} value={name}>
              {labelOfZone(name)}
            </option>
          ))}
        </select>
        <button type="submit" aria-disabled={busy || zone === ''}>
          Save time zone
        </button>
        {me.timezone_chosen && (
          <button type="button" aria-disabled={busy} onClick={() => save(null)}>
            Let my editors set it
          </button>
        )}
      </Form>
      {failure && <FailureNote failure={failure} />}
    </Card>
  )
}

const Sessions = () => {
  const { busy, failure, act } = useAction()
  const signOut = (everywhere: boolean) =>
    act(async () => {
      await call('POST /api/auth/logout', { body: { everywhere } })
      clearCache()
      location.assign('/')
    })
  return (
    <Card id="sessions" title="Sessions">
      <p class="muted">
        “Sign out everywhere” signs you out of every browser and editor. Access keys stay valid until you
        revoke them under <a href="/account/editors">Editors and keys</a>.
      </p>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button type="button" aria-disabled={busy} onClick={() => signOut(false)}>
          Sign out here
        </button>
        <button type="button" class="danger" aria-disabled={busy} onClick={() => signOut(true)}>
          Sign out everywhere
        </button>
      </div>
    </Card>
  )
}
