import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { own } from '../../schemas/own.js'
import { call, useAction } from '../api.js'
import { capitalized, count, people, percent } from '../format.js'
import { useUrlQuery } from '../query.js'
import { useTitle } from '../title.js'
import { FailureNote, Form } from '../ui.js'

type Data = AnswerOf<'GET /api/admin/funnel'>

const share = (value: number | null) => (value === null ? '–' : percent(value))
const span = (seconds: number | null) => {
  if (seconds === null) return '–'
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** The events that the service records itself. Others have the operator's names. */
const names: Record<string, string> = {
  signed_in: 'Signed in',
  settings_pushed: 'Pushed settings',
  settings_pulled: 'Pulled settings',
  workspace_created: 'Created a workspace',
  workspace_joined: 'Joined a workspace',
  activity_flushed: 'Recorded the first minute',
}
const nameOf = (event: string): string => own(names, event) ?? capitalized(event.replaceAll('_', ' '))

/** For operators. The admin key is kept only in memory, while the page is open. */
export const Funnel = () => {
  useTitle('Funnel')
  const { query, change } = useUrlQuery()
  const [key, type] = useState('')
  const [data, set] = useState<Data>()
  const { busy, failure, act } = useAction()
  const show = () =>
    act(async () => {
      const { from, to, source } = query
      // The API document declares the key as a security scheme, so the types lack the header.
      const answer = await call('GET /api/admin/funnel', {
        query: { ...(from && { from }), ...(to && { to }), ...(source && { source }) },
        headers: { 'x-service-admin-key': key },
      } as never)
      set(answer.data as Data)
    })
  return (
    <>
      <h1>Funnel</h1>
      <Form class="card row low" onSubmit={show}>
        <label class="field">
          Admin key
          <input
            type="password"
            required
            autocomplete="off"
            value={key}
            aria-invalid={failure?.code === 'admin_key_invalid'}
            onInput={(event) => type(event.currentTarget.value)}
          />
        </label>
        {(['from', 'to'] as const).map((end) => (
          <label key={end} class="field">
            {end === 'from' ? 'From' : 'To'}
            <input
              type="date"
              value={query[end] ?? ''}
              onChange={(event) => change({ [end]: event.currentTarget.value })}
            />
          </label>
        ))}
        <label class="field">
          Source
          <input
            value={query.source ?? ''}
            placeholder="All"
            onChange={(event) => change({ source: event.currentTarget.value })}
          />
        </label>
        <button type="submit" class="primary" aria-disabled={busy}>
          Show funnel
        </button>
      </Form>
      {failure && <FailureNote failure={failure} />}
      {data && <Steps data={data} />}
    </>
  )
}

/** A step can be reached without the previous one, which makes a share of that step meaningless. */
const comparedWith = (before: number, step: Data['steps'][number]): string =>
  step.users > before
    ? `${count(step.users - before)} more than the previous step`
    : `${share(step.conversion_from_previous)} of the previous step`

const Steps = ({ data }: { data: Data }) => {
  const most = Math.max(1, ...data.steps.map(({ users }) => users))
  return (
    <>
      <section class="card stack tight" aria-labelledby="steps">
        <h2 id="steps">{people(data.users)}</h2>
        <ol class="steps">
          {data.steps.map((step, index) => (
            <li key={step.event}>
              <div class="row apart">
                <strong>{nameOf(step.event)}</strong>
                <span>
                  {people(step.users)}
                  <span class="muted">
                    {index > 0 &&
                      `, ${comparedWith(data.steps[index - 1]?.users ?? 0, step)}, ${share(step.conversion_from_start)} of the first step${step.median_seconds_from_start ? `, median time ${span(step.median_seconds_from_start)}` : ''}`}
                  </span>
                </span>
              </div>
              <div class="track" aria-hidden="true">
                <span style={{ '--part': String(step.users / most) }} />
              </div>
            </li>
          ))}
        </ol>
      </section>
      <div class="two">
        <EventTable title="By source" rows={data.by_source.map((row) => ({ ...row, name: row.source }))} />
        <EventTable
          title="Other events"
          rows={data.other_events.map((row) => ({ ...row, name: nameOf(row.event) }))}
        />
      </div>
    </>
  )
}

const EventTable = ({
  title,
  rows,
}: {
  title: string
  rows: { name: string; users: number; events: number }[]
}) => (
  <section class="card stack tight">
    <h2>{title}</h2>
    <table>
      <caption class="away">{title}</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col" class="n">
            People
          </th>
          <th scope="col" class="n">
            Events
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, users, events }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="n">{count(users)}</td>
            <td class="n">{count(events)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)
