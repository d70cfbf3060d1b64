import { useRoute } from 'preact-iso/router'
import { own } from '../../schemas/own.js'
import { call, useAction, useRead } from '../api.js'
import { consent } from '../consent.js'
import { count, time } from '../format.js'
import { startOf } from '../home.js'
import { useMe } from '../me.js'
import { useTitle } from '../title.js'
import { FailureNote, Loaded } from '../ui.js'

const reasons: Record<string, string> = {
  expired: 'This invite has expired. Ask for a new invite.',
  exhausted: 'This invite has no uses left. Ask for a new invite.',
  revoked: 'This invite was revoked. Ask for a new invite.',
}

/** Shows an invite's workspace before the person joins. */
export const Join = () => {
  const { params } = useRoute()
  const { login } = useMe()
  const code = params.code ?? ''
  const response = useRead('GET /api/team/invites/{code}', { path: { code } })
  const { busy, failure, act } = useAction()
  useTitle('Workspace invite')
  const join = () =>
    act(async () => {
      const { data } = await call('POST /api/team/workspaces/join', { body: { code } })
      location.assign(startOf(data.workspace))
    })
  return (
    <div class="stack narrow">
      <h1>Workspace invite</h1>
      <Loaded response={response} height={260}>
        {({ workspace, role, status, expires_at }) => (
          <div class="card stack">
            <div>
              <h2>
                <bdi>{workspace.name}</bdi>
              </h2>
              <p class="muted">
                {count(workspace.member_count)} {workspace.member_count === 1 ? 'member' : 'members'}. You
                will join as {role === 'admin' ? 'an admin' : 'a member'}.
              </p>
            </div>
            <div>
              <h3>Recorded repositories</h3>
              <p class="mono">{workspace.patterns.join('  ') || 'None yet'}</p>
            </div>
            <div>
              <h3>Who sees your numbers</h3>
              <p>{consent[workspace.activity_privacy]} You can pause recording at any time.</p>
            </div>
            {status !== 'active' && (
              <div class="note" role="alert">
                {own(reasons, status)}
              </div>
            )}
            {failure && <FailureNote failure={failure} />}
            {status === 'active' && (
              <div class="row">
                <button type="button" class="primary" onClick={join} aria-disabled={busy}>
                  <span>
                    Join as <bdi>{login}</bdi>
                  </span>
                </button>
                <span class="small muted">Expires {time(expires_at)}</span>
              </div>
            )}
          </div>
        )}
      </Loaded>
    </div>
  )
}
