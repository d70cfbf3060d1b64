/** The webhook through which the repository host reports commits and closed issues to a workspace. */

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import type { RepohostKind } from '../../schemas/common.js'
import { limits } from '../../schemas/limits.js'
import { own } from '../../schemas/own.js'
import { announce } from '../announce.js'
import { call, useAction, usePolling, useRead } from '../api.js'
import { count, time } from '../format.js'
import { useWorkspace } from '../me.js'
import { useUrlQuery } from '../query.js'
import { CopyField } from '../snippets.js'
import { start } from '../start.js'
import { toast } from '../toast.js'
import { Card, type Column, Confirm, FailureNote, Loaded, SortedTable } from '../ui.js'

type State = AnswerOf<'GET /api/team/workspaces/{id}/webhooks'>['webhooks'][number]
type Delivery = State['deliveries'][number]

const host = start.repohost_name

/** The workspace's webhook, for admins. */
export const Webhook = () => {
  const { id } = useWorkspace()
  const path = { id }
  const response = useRead('GET /api/team/workspaces/{id}/webhooks', { path })
  const { query } = useUrlQuery()
  const [isShown, show] = useState(query.repo !== undefined)
  const [secret, setSecret] = useState<string>()
  const [asking, ask] = useState<'rotate' | 'delete'>()
  const { busy, failure, act } = useAction()
  const create = async () => {
    const { data } = await call('POST /api/team/workspaces/{id}/webhook', { path, body: {} })
    setSecret(data.secret)
    show(true)
    announce('Webhook secret created')
    response.again()
  }
  return (
    <Card id="webhook" title="Webhook">
      <p class="muted">
        {host} can report commits and closed issues automatically. Uploaded counts replace the reported ones
        for the same member, repository and day.
      </p>
      {secret && (
        <>
          <p>Copy the secret now. The service doesn’t store it and can’t show it again.</p>
          <CopyField label="Secret" what="secret" text={secret} />
        </>
      )}
      <Loaded response={response} height={76}>
        {({ webhooks: [webhook] }) => (
          <>
            <p>{stateOf(webhook)}</p>
            {failure && <FailureNote failure={failure} />}
            {webhook && isShown ? (
              <Details
                webhook={webhook}
                isNew={secret !== undefined}
                onRotate={() => ask('rotate')}
                onDelete={() => ask('delete')}
                again={response.again}
              />
            ) : (
              <div>
                <button
                  type="button"
                  aria-disabled={busy}
                  onClick={() => (webhook ? show(true) : act(create))}
                >
                  {webhook ? 'Manage' : 'Set up'}
                  <span class={webhook ? 'away' : ''}> webhook</span>
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
      {asking === 'rotate' && (
        <Confirm
          title="Rotate the webhook secret?"
          action="Rotate secret"
          onClose={() => ask(undefined)}
          onYes={create}
        >
          <p>
            You get a new secret for the same URL. Enter it on {host} within {limits.webhook_secret_hours}{' '}
            hours. After that, the old secret stops working.
          </p>
        </Confirm>
      )}
      {asking === 'delete' && (
        <Confirm
          title="Delete the webhook?"
          action="Delete webhook"
          onClose={() => ask(undefined)}
          onYes={async () => {
            await call('DELETE /api/team/workspaces/{id}/webhook', { path })
            toast('Webhook deleted')
            setSecret(undefined)
            show(false)
            response.again()
          }}
        >
          <p>
            The service then rejects deliveries from {host}. Counts that were already reported stay. You can’t
            undo this: a new webhook has a new URL and secret.
          </p>
        </Confirm>
      )}
    </Card>
  )
}

/** Whether deliveries arrive, in a sentence. */
const stateOf = (webhook: State | undefined): string => {
  if (!webhook) return 'Not set up.'
  const { created_at, deliveries } = webhook
  const [last] = deliveries
  if (!last) return `Waiting for the first delivery from ${host} since ${time(created_at)}.`
  const working = deliveries.findIndex(({ status }) => status < 400)
  const failing = working === -1 ? deliveries.at(-1) : deliveries[working - 1]
  return failing
    ? `Failing since ${time(failing.at)}. Last delivery: ${time(last.at)}, status ${last.status}.`
    : `Connected. Last delivery: ${time(last.at)}.`
}

const Details = (props: {
  webhook: State
  isNew: boolean
  onRotate: () => void
  onDelete: () => void
  again: () => void
}) => {
  const { url, created_at, deliveries } = props.webhook
  return (
    <>
      <CopyField label="URL" what="URL" text={url} />
      <Steps />
      {!props.isNew && (
        <p class="small muted">
          The secret was shown once, when it was created. If you no longer have it, rotate it.
        </p>
      )}
      <div class="row">
        <button type="button" onClick={props.onRotate}>
          Rotate secret
        </button>
        <button type="button" class="danger" onClick={props.onDelete}>
          Delete webhook
        </button>
        <span class="small muted">Created {time(created_at)}.</span>
      </div>
      <Deliveries deliveries={deliveries} again={props.again} />
    </>
  )
}

/** Where to add a webhook, and what the fields there are called. */
const places: Record<RepohostKind, { open: string; url: string; rest: string; events: string }> = {
  github: {
    open: 'In the repository or organization, open Settings, then Webhooks, and select “Add webhook”.',
    url: 'Payload URL',
    rest: 'Choose the content type application/json.',
    events:
      'Select individual events: Pushes, Issues, and Repositories, which tells admins of a renamed repository. Also select Organizations to remove people who leave an organization.',
  },
  gitlab: {
    open: 'In the project or group, open Settings, then Webhooks, and select “Add new webhook”.',
    url: 'URL',
    rest: 'The field for the secret is called “Secret token”.',
    events:
      'Select Push events and Issues events. Confidential issues need a separate event. To remove people who leave a group, also select Member events.',
  },
  forgejo: {
    open: 'In the repository or organization, open Settings, then Webhooks, and select “Add webhook”, then Forgejo or Gitea.',
    url: 'Target URL',
    rest: 'Choose the method POST.',
    events: 'Select custom events: Push and Issues.',
  },
}

const Steps = () => {
  const place = places[start.repohost_kind]
  return (
    <ol class="numbered stack tight" aria-label={`Setup on ${host}`}>
      <li>{place.open}</li>
      <li>
        Paste the URL into “{place.url}”, and enter the secret. {place.rest}
      </li>
      <li>{place.events}</li>
      <li>Save the webhook, and push a commit. The delivery then appears below.</li>
      <li>
        Rotate the secret when an admin leaves. Anyone who knows it can report commits and closed issues.
      </li>
    </ol>
  )
}

const reasonTexts = {
  not_a_member: 'not a member',
  unknown_author: 'unknown author',
  outside_patterns: 'outside the patterns',
}

/** The counts of a delivery, and why the others were skipped: `3 counted, 1 skipped (not a member)`. */
const resultOf = ({ counted, skipped, skipped_because }: Delivery): string => {
  const { not_delivered, ...because } = skipped_because ?? {}
  const reasons = Object.entries(because).flatMap(([name, number]) => {
    const reason = own(reasonTexts, name) ?? name
    return number ? [number === skipped ? reason : `${count(number)} ${reason}`] : []
  })
  return [
    `${count(counted)} counted`,
    `${count(skipped)} skipped${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}`,
    ...(not_delivered ? [`${count(not_delivered)} not sent by ${host}`] : []),
  ].join(', ')
}

/** A delivery's result, and each skipped commit. */
const Result = (delivery: Delivery) => {
  const { skipped = 0, skipped_commits = [] } = delivery
  if (skipped_commits.length === 0) return resultOf(delivery)
  const more = skipped - skipped_commits.length
  return (
    <details>
      <summary>{resultOf(delivery)}</summary>
      <ul class="small">
        {skipped_commits.map(({ hash, author, because }) => (
          <li key={hash}>
            <span class="mono">{hash}</span> {author !== null && <bdi>{author}, </bdi>}
            {reasonTexts[because]}
          </li>
        ))}
        {more > 0 && <li>and {count(more)} more</li>}
      </ul>
    </details>
  )
}

type Row = Delivery & { index: number }

const columns: Column<Row>[] = [
  { name: 'at', title: 'Time', cell: ({ at }) => time(at) },
  {
    name: 'event',
    title: 'Event',
    cell: ({ event, repo }) => (
      <>
        <bdi>{event}</bdi>
        {repo && <bdi class="muted"> {repo}</bdi>}
      </>
    ),
  },
  { name: 'status', title: 'Status', cell: ({ status }) => status },
]
/** The privacy level `team` hides the result. */
const allColumns: Column<Row>[] = [
  ...columns,
  {
    name: 'result',
    title: 'Result',
    cell: Result,
  },
]

const POLL_MS = 5_000

const Deliveries = ({ deliveries, again }: { deliveries: Delivery[]; again: () => void }) => {
  const { activity_privacy } = useWorkspace()
  usePolling(true, again, POLL_MS)
  const { query, change } = useUrlQuery()
  const chosen = query.repo?.toLowerCase()
  const rows = deliveries
    .map((delivery, index) => ({ ...delivery, index: deliveries.length - index }))
    .filter(({ repo }) => chosen === undefined || repo?.toLowerCase() === chosen)
  return (
    <>
      <h3 id="deliveries">Recent deliveries</h3>
      {query.repo && (
        <p class="row">
          <span>
            Only <bdi>{query.repo}</bdi>
          </span>
          <button type="button" onClick={() => change({ repo: undefined })}>
            Show all deliveries
          </button>
        </p>
      )}
      <SortedTable
        caption="Recent deliveries"
        rows={rows}
        columns={activity_privacy === 'team' ? columns : allColumns}
        keyOf={({ index }) => String(index)}
        first=""
        empty="No deliveries yet. Deliveries with a wrong secret, and of events that never count, aren’t listed."
      />
      <p class="small muted">
        {activity_privacy === 'team'
          ? 'The workspace’s privacy level hides repositories and numbers.'
          : `An author is unknown if ${host} names only an address that it hasn’t shown as a member’s at sign-in.`}
      </p>
    </>
  )
}
