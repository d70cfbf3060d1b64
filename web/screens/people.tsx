import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { limits } from '../../schemas/limits.js'
import { announce } from '../announce.js'
import { call, useAction, usePages, useRead } from '../api.js'
import { fullDay, time } from '../format.js'
import { useMe, useWorkspace } from '../me.js'
import { useTitle } from '../title.js'
import { Confirm, Copy, Dialog, FailureNote, Form, Loaded, More, Person, Search } from '../ui.js'

type Member = AnswerOf<'GET /api/team/workspaces/{id}/members'>['members'][number]
type Invite = AnswerOf<'GET /api/team/workspaces/{id}/invites'>['invites'][number]

export const People = () => {
  const workspace = useWorkspace()
  useTitle(`${workspace.name} people`)
  const isAdmin = workspace.role === 'admin'
  const invites = useRead(
    'GET /api/team/workspaces/{id}/invites',
    isAdmin && !workspace.personal ? { path: { id: workspace.id } } : undefined,
  )
  const [inviting, invite] = useState(false)
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{workspace.name}</bdi> people
        </h1>
        {!workspace.personal && (
          <div class="row">
            <Leave />
            {isAdmin && (
              <button type="button" class="primary" onClick={() => invite(true)}>
                Invite people
              </button>
            )}
          </div>
        )}
      </div>
      <p class="muted narrow">
        {workspace.activity_privacy === 'team'
          ? 'No one here sees another person’s numbers.'
          : 'Admins see each member’s daily numbers. No one sees another person’s hours.'}{' '}
        Admins manage people, repositories and settings.
      </p>
      <Members />
      {isAdmin && !workspace.personal && (
        <section class="card stack tight" aria-labelledby="invites">
          <h2 id="invites">Open invites</h2>
          <Loaded asked={invites} height={120}>
            {() => <Invites asked={invites} />}
          </Loaded>
        </section>
      )}
      {inviting && <NewInvite onClose={() => invite(false)} onCreated={invites.again} />}
    </>
  )
}

/** The height of a row in pixels, and the rows of the first page. */
const [ROW, FIRST_PAGE] = [41, 100]

const Members = () => {
  const workspace = useWorkspace()
  const me = useMe()
  const { login } = me
  const asked = useRead('GET /api/team/workspaces/{id}/members', { path: { id: workspace.id }, query: {} })
  const { pages, ...paging } = usePages(asked, (cursor) =>
    call('GET /api/team/workspaces/{id}/members', { path: { id: workspace.id }, query: { cursor } }),
  )
  const [removing, remove] = useState<Member>()
  const [steppingDown, stepDown] = useState(false)
  const { busy, failure, act, clear } = useAction()
  const isAdmin = workspace.role === 'admin'
  const change = (member: Pick<Member, 'login' | 'role'>) =>
    act(async () => {
      const role = member.role === 'admin' ? 'member' : 'admin'
      await call('PATCH /api/team/workspaces/{id}/members', {
        path: { id: workspace.id },
        body: { login: member.login, role },
      })
      announce(`${member.login} is now ${role === 'admin' ? 'an admin' : 'a member'}`)
      asked.again()
      if (member.login === login) me.again()
    })
  const [query, search] = useState('')
  const wanted = query.trim().toLowerCase()
  const all = pages.flatMap(({ members }) => members)
  const listed = all.filter((member) => member.login.toLowerCase().includes(wanted))
  // A list with more pages keeps the order of the service.
  if (!paging.more) listed.sort((a, b) => a.login.localeCompare(b.login))
  return (
    <section class="card stack tight" aria-labelledby="members">
      <h2 id="members">Members</h2>
      {failure && !removing && !steppingDown && <FailureNote failure={failure} />}
      <Loaded asked={asked} height={ROW * (1 + Math.min(workspace.member_count, FIRST_PAGE))}>
        {() => (
          <>
            {all.length > 8 && (
              <Search
                what="members"
                query={query}
                found={`${listed.length} of ${all.length}`}
                onSearch={search}
              />
            )}
            <div class="scroll">
              <table>
                <caption class="away">Members</caption>
                <thead>
                  <tr>
                    <th scope="col">Person</th>
                    <th scope="col">Role</th>
                    <th scope="col" class="wide">
                      Joined
                    </th>
                    <th scope="col" class="wide">
                      Last active
                    </th>
                    {isAdmin && (
                      <th scope="col">
                        <span class="away">Actions</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {listed.map((member) => (
                    <tr key={member.login}>
                      <th scope="row">
                        <Person login={member.login} />
                      </th>
                      <td>{member.role}</td>
                      <td class="wide">{time(member.joined_at)}</td>
                      <td class="wide">
                        {member.last_active_day === null ? (
                          <span class="muted">
                            {workspace.activity_privacy === 'team' ? 'hidden' : 'never'}
                          </span>
                        ) : (
                          fullDay(member.last_active_day)
                        )}
                      </td>
                      {isAdmin && (
                        <td>
                          <div class="row end">
                            <button
                              type="button"
                              class="plain act"
                              aria-disabled={busy}
                              onClick={() => (member.login === login ? stepDown(true) : change(member))}
                            >
                              {member.role === 'admin' ? 'Make member' : 'Make admin'}
                              <span class="away"> ({member.login})</span>
                            </button>
                            {member.login !== login && (
                              <button
                                type="button"
                                class="plain act"
                                onClick={() => {
                                  clear()
                                  remove(member)
                                }}
                              >
                                Remove<span class="away"> {member.login}</span>
                              </button>
                            )}
                          </div>
                        </td>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {wanted && listed.length === 0 && (
              <p class="muted">
                No results for “{query}”{paging.more && ` among the first ${all.length} members`}.
              </p>
            )}
            <More {...paging} />
          </>
        )}
      </Loaded>
      {steppingDown && (
        <Confirm
          title="Give up the admin role?"
          action="Give up role"
          busy={busy}
          failure={failure}
          onNo={() => {
            clear()
            stepDown(false)
          }}
          onYes={async () => {
            if (await change({ login, role: 'admin' })) stepDown(false)
          }}
        >
          <p>
            You will no longer see the team’s numbers or manage the workspace. Only another admin can restore
            your role.
          </p>
        </Confirm>
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.login}?`}
          action="Remove member"
          busy={busy}
          failure={failure}
          onNo={() => remove(undefined)}
          onYes={async () => {
            const done = await act(async () => {
              await call('DELETE /api/team/workspaces/{id}/members', {
                path: { id: workspace.id },
                query: { login: removing.login },
              })
              announce(`${removing.login} removed`)
              asked.again()
            })
            if (done) remove(undefined)
          }}
        >
          <p>
            This member loses access at once, and invites that this member created stop working. Past activity
            stays in the team’s numbers. To come back, this member needs a new invite.
          </p>
        </Confirm>
      )}
    </section>
  )
}

const Invites = ({
  asked,
}: {
  asked: ReturnType<typeof useRead<'GET /api/team/workspaces/{id}/invites'>>
}) => {
  const workspace = useWorkspace()
  const { pages, ...paging } = usePages(asked, (cursor) =>
    call('GET /api/team/workspaces/{id}/invites', { path: { id: workspace.id }, query: { cursor } }),
  )
  const { busy, failure, act } = useAction()
  const invites = pages.flatMap((page) => page.invites)
  const revoke = (invite: Invite) =>
    act(async () => {
      await call('DELETE /api/team/workspaces/{id}/invites/{invite}', {
        path: { id: workspace.id, invite: invite.id },
      })
      announce('Invite revoked')
      asked.again()
    })
  if (invites.length === 0)
    return <p class="muted">No open invites. To add members, select “Invite people”.</p>
  return (
    <>
      {failure && <FailureNote failure={failure} />}
      <ul class="stack tight">
        {invites.map((invite) => (
          <li key={invite.id} class="row apart">
            <div>
              <div class="mono">{invite.code}</div>
              <div class="small muted">
                Role: {invite.role}. Used {invite.used_count}
                {invite.max_uses === null ? '' : ` of ${invite.max_uses}`}
                {(invite.max_uses ?? invite.used_count) === 1 ? ' time' : ' times'}. Expires{' '}
                {time(invite.expires_at)}. Created by <bdi>{invite.created_by}</bdi>.
              </div>
            </div>
            <div class="row">
              <Copy text={linkOf(invite)} what="link" of={invite.code} />
              <button type="button" class="danger" aria-disabled={busy} onClick={() => revoke(invite)}>
                Revoke<span class="away"> {invite.code}</span>
              </button>
            </div>
          </li>
        ))}
      </ul>
      <More {...paging} />
    </>
  )
}

const linkOf = ({ code }: Invite) => `${location.origin}/join/${code}`

const terms = [
  [24, '1 day'],
  [168, '7 days'],
  [720, '30 days'],
  [2_160, '90 days'],
] as const

const NewInvite = ({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) => {
  const workspace = useWorkspace()
  const { busy, failure, act } = useAction()
  const [created, set] = useState<Invite>()
  const submit = (form: FormData) =>
    act(async () => {
      const uses = String(form.get('uses'))
      const { data } = await call('POST /api/team/workspaces/{id}/invites', {
        path: { id: workspace.id },
        body: {
          role: form.get('role') === 'admin' ? 'admin' : 'member',
          expires_in_hours: Number(form.get('hours')),
          max_uses: uses === '' ? null : Number(uses),
        },
      })
      set(data)
      onCreated()
    })
  return (
    <Dialog title="New invite" onClose={onClose}>
      {created ? (
        <div class="stack">
          <p>Share this link. It expires on {time(created.expires_at)}.</p>
          <input class="wide-input mono" readOnly value={linkOf(created)} aria-label="Invite link" />
          <div class="row end">
            <Copy text={linkOf(created)} what="link" />
            <button type="button" class="primary" onClick={onClose}>
              Done
            </button>
          </div>
        </div>
      ) : (
        <Form class="stack" onSubmit={submit}>
          <label class="field">
            Role
            <select name="role">
              <option value="member">Member: sees their own numbers</option>
              <option value="admin">Admin: sees and manages the team</option>
            </select>
          </label>
          <label class="field">
            Expires after
            <select name="hours" defaultValue="168">
              {terms.map(([hours, text]) => (
                <option key={hours} value={hours} selected={hours === 168}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            Maximum uses (leave empty for no limit)
            <input type="number" name="uses" min={1} max={limits.invite_uses} />
          </label>
          {failure && <FailureNote failure={failure} />}
          <div class="row end">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="primary" aria-disabled={busy}>
              Create invite
            </button>
          </div>
        </Form>
      )}
    </Dialog>
  )
}

const Leave = () => {
  const workspace = useWorkspace()
  const [asking, ask] = useState(false)
  const { busy, failure, act } = useAction()
  return (
    <div>
      <button type="button" class="danger" onClick={() => ask(true)}>
        <span>
          Leave <bdi>{workspace.name}</bdi>
        </span>
      </button>
      {asking && (
        <Confirm
          title={`Leave ${workspace.name}?`}
          action="Leave workspace"
          busy={busy}
          failure={failure}
          onNo={() => ask(false)}
          onYes={async () => {
            const done = await act(() =>
              call('POST /api/team/workspaces/{id}/leave', { path: { id: workspace.id }, body: {} }),
            )
            if (done) location.assign('/')
          }}
        >
          <p>
            You lose access at once. Your past activity stays in the team’s numbers. To come back, you need a
            new invite.
          </p>
        </Confirm>
      )}
    </div>
  )
}
