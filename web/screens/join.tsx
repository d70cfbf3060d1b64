import { useRoute } from 'preact-iso/router'
import { call, useAct, useAsk } from '../api.js'
import { count, time } from '../format.js'
import { useMe } from '../me.js'
import { useTitle } from '../title.js'
import { FailureNote, Shown } from '../ui.js'

const reasons: Record<string, string> = {
  expired: 'It has expired. Ask for a new one.',
  exhausted: 'It was used as often as it may be. Ask for a new one.',
  revoked: 'It was revoked. Ask for a new one.',
}

/** What one is about to join, before joining. */
export const Join = () => {
  const { params } = useRoute()
  const { login } = useMe()
  const code = params.code ?? ''
  const asked = useAsk('GET /api/team/invites/{code}', { path: { code } })
  const { busy, failure, act } = useAct()
  useTitle('Join')
  const join = () =>
    act(async () => {
      const { data } = await call('POST /api/team/workspaces/join', { body: { code } })
      location.assign(
        data.workspace.role === 'admin' ? `/w/${data.workspace.id}` : `/w/${data.workspace.id}/people`,
      )
    })
  return (
    <div class="stack narrow">
      <h1>An invite</h1>
      <Shown asked={asked} height={260}>
        {({ workspace, role, status, expires_at }) => (
          <div class="card stack">
            <div>
              <h2>
                <bdi>{workspace.name}</bdi>
              </h2>
              <p class="muted">
                {count(workspace.member_count)} {workspace.member_count === 1 ? 'member' : 'members'}; you
                would be {role === 'admin' ? 'an admin' : 'a member'}
              </p>
            </div>
            <div>
              <h3>It counts your active minutes in</h3>
              <p class="mono">{workspace.patterns.join('  ') || 'no repository so far'}</p>
            </div>
            <div>
              <h3>Who sees your numbers</h3>
              <p>
                {workspace.activity_privacy === 'team'
                  ? 'Nobody but you. Admins see the team as a whole, in weeks with enough people.'
                  : 'Its admins see your days and sums, by name. Your hours are yours alone.'}{' '}
                You can pause the recording whenever you like.
              </p>
            </div>
            {status !== 'active' && (
              <div class="note" role="alert">
                {reasons[status]}
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
                <span class="small muted">Good until {time(expires_at)}</span>
              </div>
            )}
          </div>
        )}
      </Shown>
    </div>
  )
}
