/** The webhook through which the repository host reports commits and closed issues to a workspace. */
import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import type { RepohostKind } from '../../schemas/common.js'
import { limits } from '../../schemas/limits.js'
import { announce } from '../announce.js'
import { call, useAction, useRead } from '../api.js'
import { count, time } from '../format.js'
import { useWorkspace } from '../me.js'
import { CopyField } from '../snippets.js'
import { start } from '../start.js'
import { toast } from '../toast.js'
import { Card, type Column, Confirm, FailureNote, Loaded, SortedTable } from '../ui.js'

type State = AnswerOf<'GET /api/team/workspaces/{id}/webhook'>
type Delivery = State['deliveries'][number]

const host = start.repohost_name

/** Only for admins. */
export const Webhook = () => {
  const [isShown, show] = useState(false)
  return (
    <Card id="webhook" title="Webhook">
      <p class="muted">
        {host} can report commits and closed issues automatically. Uploaded counts replace the reported ones
        for the same member, repository and day.
      </p>
      {isShown ? (
        <Details />
      ) : (
        <div>
          <button type="button" onClick={() => show(true)}>
            Show webhook
          </button>
        </div>
      )}
    </Card>
  )
}

const Details = () => {
  const { id } = useWorkspace()
  const path = { id }
  const asked = useRead('GET /api/team/workspaces/{id}/webhook', { path })
  const [created, set] = useState<{ url: string; secret: string }>()
  const [asking, ask] = useState<'rotate' | 'delete'>()
  const { busy, failure, act } = useAction()
  const create = async () => {
    const { data } = await call('POST /api/team/workspaces/{id}/webhook', { path, body: {} })
    set(data)
    announce('Webhook secret created')
    asked.again()
  }
  if (asked.failure?.code === 'webhook_not_found' && !created) {
    return (
      <>
        <p>This workspace has no webhook.</p>
        {failure && <FailureNote failure={failure} />}
        <div>
          <button type="button" class="primary" aria-disabled={busy} onClick={() => act(create)}>
            Create webhook
          </button>
        </div>
      </>
    )
  }
  // While a new webhook's list loads, the last failure still says that there's none.
  const read = asked.failure?.code === 'webhook_not_found' ? { ...asked, failure: undefined } : asked
  return (
    <>
      {created && (
        <>
          <p>Copy the secret now. The service doesn’t store it and can’t show it again.</p>
          <CopyField label="Secret" what="secret" text={created.secret} />
        </>
      )}
      <Loaded asked={read} height={320}>
        {({ url, created_at, deliveries }) => (
          <>
            <CopyField label="URL" what="URL" text={url} />
            <Steps />
            {!created && (
              <p class="small muted">
                The secret was shown once, when it was created. If you no longer have it, rotate it.
              </p>
            )}
            <div class="row">
              <button type="button" onClick={() => ask('rotate')}>
                Rotate secret
              </button>
              <button type="button" class="danger" onClick={() => ask('delete')}>
                Delete webhook
              </button>
              <span class="small muted">Created {time(created_at)}.</span>
            </div>
            <Deliveries deliveries={deliveries} again={asked.again} />
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
            set(undefined)
            asked.again()
          }}
        >
          <p>
            The service then rejects deliveries from {host}. Counts that were already reported stay. You can’t
            undo this: a new webhook has a new URL and secret.
          </p>
        </Confirm>
      )}
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
      'Select individual events: Pushes and Issues, and also Organizations to remove people who leave an organization.',
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
    </ol>
  )
}

/** Why commits and issues of a delivery don't count, in words. */
const reasonsOf = ({ skipped_because }: Delivery): string[] => {
  if (!skipped_because) return []
  const { not_a_member, unknown_author, outside_patterns, not_delivered } = skipped_because
  const reasons: [number, string][] = [
    [not_a_member, 'by people who aren’t members'],
    [unknown_author, 'by unknown authors'],
    [outside_patterns, 'in a repository outside the patterns'],
    [not_delivered, `commits not sent by ${host}`],
  ]
  return reasons.flatMap(([number, reason]) => (number > 0 ? [`${count(number)} ${reason}`] : []))
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
    cell: (delivery) => (
      <>
        {`${count(delivery.counted)} counted, ${count(delivery.skipped)} skipped`}
        {reasonsOf(delivery).map((reason) => (
          <div key={reason} class="small muted">
            {reason}
          </div>
        ))}
      </>
    ),
  },
]

const Deliveries = ({ deliveries, again }: { deliveries: Delivery[]; again: () => void }) => {
  const { activity_privacy } = useWorkspace()
  const rows = deliveries.map((delivery, index) => ({ ...delivery, index }))
  return (
    <>
      <div class="row apart">
        <h3>Recent deliveries</h3>
        <button
          type="button"
          onClick={() => {
            again()
            announce('Checking for deliveries')
          }}
        >
          Check for deliveries
        </button>
      </div>
      <SortedTable
        caption="Recent deliveries"
        rows={rows}
        columns={activity_privacy === 'team' ? columns : allColumns}
        keyOf={({ index }) => String(index)}
        first=""
        empty="No deliveries yet. Deliveries with a wrong secret aren’t listed."
      />
      <p class="small muted">
        {activity_privacy === 'team'
          ? 'The workspace’s privacy level hides repositories and numbers.'
          : `Authors are unknown if ${host} names only their address, and hasn’t shown at sign-in that it’s a member’s. The numbers of commits that ${host} didn’t send aren’t part of the skipped ones.`}
      </p>
    </>
  )
}
