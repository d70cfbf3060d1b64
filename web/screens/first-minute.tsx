/** The steps to a person's first minute in a workspace, and its arrival. */
import { usePolling, useRead } from '../api.js'
import { EditorKey } from '../editor-key.js'
import { Checklist } from '../first-steps.js'
import { hasStepsLeft } from '../home.js'
import { useWorkspace } from '../me.js'
import { start } from '../start.js'
import { Card } from '../ui.js'

const POLL_MS = 5_000

/** `again` looks for the first minute. */
export const FirstMinute = (props: { hasArrived: boolean; again: () => void; onClose: () => void }) => {
  const { hasArrived } = props
  const workspace = useWorkspace()
  const { id, patterns } = workspace
  const me = useRead('GET /api/me', {})
  const look = () => {
    me.again()
    props.again()
  }
  usePolling(!hasArrived, look, POLL_MS)
  if (hasArrived)
    return (
      <section class="card row arrived" aria-labelledby="first-minute">
        <svg width="40" height="40" viewBox="0 0 40 40" aria-hidden="true">
          <circle cx="20" cy="20" r="18" />
          <path d="M12 21l6 6 11-13" pathLength="1" />
        </svg>
        <div class="grow" role="status">
          <h2 id="first-minute">Your first minute has arrived</h2>
          <p class="muted">Your editor is connected. The numbers below grow while you work.</p>
        </div>
        <button type="button" onClick={props.onClose}>
          Close
        </button>
      </section>
    )
  // The first steps above say how.
  if (hasStepsLeft(workspace))
    return (
      <Card id="first-minute" title="No activity yet">
        <p class="waiting" role="status">
          Your numbers appear here with the first minute from your editor.
        </p>
      </Card>
    )
  return (
    <Card id="first-minute" title="Record your first minute">
      <Checklist
        showAll
        steps={[
          {
            title: 'Connect an editor',
            isDone: me.data?.heartbeats != null,
            children: (
              <>
                <p>
                  <a href={start.extension_url ?? '/account/editors'}>Install the extension</a> and sign in
                  there. Any other editor works through its WakaTime plugin:
                </p>
                <p>
                  Install the{' '}
                  <a href="https://wakatime.com/plugins" target="_blank" rel="noreferrer">
                    WakaTime plugin
                  </a>{' '}
                  for your editor, create a key, and save its lines as <span class="mono">.wakatime.cfg</span>{' '}
                  in your home folder.
                </p>
                <EditorKey />
              </>
            ),
          },
          {
            title: 'Work for two minutes',
            isDone: false,
            children: (
              <>
                <p>
                  {patterns.length > 0 ? (
                    <>
                      Edit a file in a repository that matches <span class="mono">{patterns.join(', ')}</span>
                      .
                    </>
                  ) : (
                    'An admin has to choose repositories first, because this workspace covers none yet.'
                  )}
                </p>
                <p class="waiting" role="status">
                  Waiting for your first minute. This page shows it when it arrives.
                </p>
              </>
            ),
          },
        ]}
      />
      <p class="small muted">
        The team’s editor settings are under <a href={`/w/${id}/settings`}>Settings</a>. The extension applies
        them when you sign in there.
      </p>
    </Card>
  )
}
