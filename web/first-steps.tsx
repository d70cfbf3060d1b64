/** A workspace's first steps, ticked off as they're done. */
import { useState } from 'preact/hooks'
import { usePolling, useRead } from './api.js'
import { addDays, utcDay } from './format.js'
import { hideSteps } from './home.js'
import type { Workspace } from './me.js'
import { start } from './start.js'

/** An editor that has sent minutes within this many days is connected. */
const RECENT_DAYS = 30
const POLL_MS = 10_000

export interface Step {
  title: string
  isDone: boolean
  children: preact.ComponentChildren
}

/** A workspace's steps, until the admin hides them. */
export const DismissibleFirstSteps = ({ workspace }: { workspace: Workspace }) => {
  const [isHidden, hide] = useState(false)
  if (isHidden) return null
  return (
    <FirstSteps
      workspace={workspace}
      onHide={() => {
        hideSteps(workspace.id)
        hide(true)
      }}
    />
  )
}

/** `workspace` is undefined before there is one. */
export const FirstSteps = (props: {
  workspace: Workspace | undefined
  onHide?: (() => void) | undefined
  /** The form that creates a workspace. */
  children?: preact.ComponentChildren
}) => {
  const { workspace } = props
  const me = useRead('GET /api/me', {})
  const minutes = useRead('GET /api/team/active-minutes', {
    query: { from: addDays(utcDay(), -RECENT_DAYS), to: utcDay() },
  })
  const settings = useRead(
    'GET /api/team/workspaces/{id}/settings',
    workspace && { path: { id: workspace.id } },
  )
  const path = `/w/${workspace?.id}`
  const hasMinutes =
    minutes.data &&
    'days' in minutes.data &&
    minutes.data.days.some(({ workspaces }) =>
      workspaces.some((one) => one.workspace_id === workspace?.id && one.minutes > 0),
    )
  const isRecorded = hasMinutes === true
  const isWaiting = workspace !== undefined && !isRecorded
  const look = () => {
    me.again()
    minutes.again()
    settings.again()
  }
  usePolling(isWaiting, look, POLL_MS)
  const steps: Step[] = [
    {
      title: 'Create a workspace',
      isDone: workspace !== undefined,
      children: props.children ?? <p>Create a workspace for your team.</p>,
    },
    {
      title: 'Choose repositories',
      isDone: (workspace?.patterns.length ?? 0) > 0,
      children: (
        <p>
          {workspace ? <a href={`${path}/settings/general`}>Add a pattern</a> : 'Add a pattern'} such as{' '}
          <span class="mono">acme/*</span>. The workspace records activity in repositories that match a
          pattern.
        </p>
      ),
    },
    {
      title: 'Set one setting',
      isDone: Object.keys(settings.data?.settings ?? {}).length > 0,
      children: (
        <p>
          {workspace ? <a href={`${path}/settings`}>Choose a setting</a> : 'Choose a setting'} that all
          editors of your team should share.
        </p>
      ),
    },
    {
      title: 'Connect an editor',
      isDone: isRecorded,
      children: (
        <p>
          <a href={start.extension_url ?? '/account/editors'}>Install the extension</a> in your editor and
          sign in there, or <a href="/account/editors">connect any other editor</a> through its WakaTime
          plugin.{' '}
          {me.data?.heartbeats &&
            'Your editor is connected, but you haven’t worked in this workspace’s repositories yet.'}
        </p>
      ),
    },
    {
      title: 'Invite people',
      isDone: (workspace?.member_count ?? 0) > 1,
      children: (
        <p>
          {workspace ? <a href={`${path}/people`}>Share an invite link</a> : 'Share an invite link'} with your
          team.
        </p>
      ),
    },
  ]
  const done = steps.filter(({ isDone }) => isDone).length
  return (
    <section class="card stack tight" aria-labelledby="first-steps">
      <div class="row apart">
        <h2 id="first-steps">First steps</h2>
        <span class="row">
          <span class="small muted">
            {done} of {steps.length} done
          </span>
          {props.onHide && (
            <button type="button" onClick={props.onHide}>
              Hide first steps
            </button>
          )}
        </span>
      </div>
      <Checklist steps={steps} showAll={workspace !== undefined} />
    </section>
  )
}

/** Steps in order. Open steps show an explanation, either all of them or only the next. */
export const Checklist = ({ steps, showAll }: { steps: Step[]; showAll: boolean }) => {
  const next = steps.findIndex(({ isDone }) => !isDone)
  return (
    <ol class="checklist">
      {steps.map(({ title, isDone, children }, index) => (
        <li key={title} class={isDone ? 'done' : ''}>
          <span class="tick" aria-hidden="true">
            {isDone ? <Tick /> : index + 1}
          </span>
          <div class="stack tight">
            <h3>
              {title}
              <span class="away">{isDone ? ', done' : ', to do'}</span>
            </h3>
            {(index === next || (!isDone && showAll)) && children}
          </div>
        </li>
      ))}
    </ol>
  )
}

const Tick = () => (
  <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
    <path d="M2 6.5l3 3 5-6" fill="none" stroke="currentcolor" stroke-width="2" />
  </svg>
)
