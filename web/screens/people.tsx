import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { limits } from '../../schemas/limits.js'
import { call, refresh, useAction, usePages, useRead } from '../api.js'
import { consent, sinceText } from '../consent.js'
import { counted, dayOf, fullDay, time } from '../format.js'
import { useMe, useWorkspace, type Workspace } from '../me.js'
import { Menu } from '../menu.js'
import { useNew } from '../query.js'
import { useTitle } from '../title.js'
import { toast } from '../toast.js'
import {
  Card,
  type Column,
  Confirm,
  Copy,
  Dialog,
  FailureNote,
  FailureOf,
  Form,
  type Letters,
  Loaded,
  lettersOf,
  More,
  Person,
  SortedTable,
} from '../ui.js'
import { requireUnchanged } from '../undo.js'
import { ConcernedMembers, FollowedOrganization } from './organization.js'

type Member = AnswerOf<'GET /api/team/workspaces/{id}/members'>['members'][number]
type Invite = AnswerOf<'GET /api/team/workspaces/{id}/invites'>['invites'][number]
type Row = Member | Invite

const isInvite = (row: Row): row is Invite => 'code' in row

const canManage = ({ role, personal }: Workspace) => role === 'admin' && !personal

export const People = () => {
  const workspace = useWorkspace()
  useTitle(`${workspace.name} people`)
  const [inviting, invite] = useNew('invite')
  return (
    <>
      <div class="row apart">
        <h1>
          <bdi>{workspace.name}</bdi> people
        </h1>
        {canManage(workspace) && (
          <button type="button" class="primary" onClick={() => invite(true)}>
            Invite people
          </button>
        )}
      </div>
      <p class="muted narrow">
        {consent[workspace.activity_privacy]} {sinceText(workspace)} Admins manage people, repositories and
        settings.
      </p>
      <FollowedOrganization />
      {canManage(workspace) && <ConcernedMembers />}
      <List />
      {!workspace.personal && <Leave />}
      {inviting && <NewInvite onClose={() => invite(false)} />}
    </>
  )
}

/** A row's height in pixels, how many members are shown first, and how many are loaded at once. */
const [ROW, MAX_SHOWN, PAGE] = [49, 50, 500]

type Role = Member['role']

/** The article keeps the sentences grammatical. */
const named: Record<Role, string> = { admin: 'an admin', member: 'a member' }

const List = () => {
  const workspace = useWorkspace()
  const me = useMe()
  const path = { id: workspace.id }
  const response = useRead('GET /api/team/workspaces/{id}/members', { path, query: { limit: PAGE } })
  const { pages, ...paging } = usePages(response, (cursor) =>
    call('GET /api/team/workspaces/{id}/members', { path, query: { limit: PAGE, cursor } }),
  )
  const managed = canManage(workspace) ? { path } : undefined
  const invites = useRead('GET /api/team/workspaces/{id}/invites', managed)
  const invited = usePages(invites, (cursor) =>
    call('GET /api/team/workspaces/{id}/invites', { path, query: { cursor } }),
  )
  const [changing, changeRole] = useState<{ member: Member; role: Role }>()
  const [removing, remove] = useState<Member>()
  const [revoking, revoke] = useState<Invite>()
  const isMine = ({ login }: Member) => login === me.login
  const setRole = async (login: string, role: Role) => {
    await call('PATCH /api/team/workspaces/{id}/members', { path, body: { login, role } })
    if (login === me.login) me.again()
    refresh()
  }
  const undoRole = async (member: Member, changed: Role) => {
    const role = await readRole(workspace.id, member.login)
    refresh()
    requireUnchanged(role === changed)
    await setRole(member.login, member.role)
  }
  const members = pages.flatMap(({ members }) => members)
  const rows: Row[] = [...invited.pages.flatMap(({ invites }) => invites), ...members]
  // Rows that arrive later would move the others.
  const waits = managed && !invites.data && !invites.failure
  const columns = useMemo(
    () =>
      columnsOf(
        { ...workspace, letters: lettersOf(members.map(({ login }) => login)) },
        isMine,
        (member, role) => changeRole({ member, role }),
        remove,
        revoke,
      ),
    [workspace, me.login, members.length],
  )
  return (
    <section class="card stack tight" aria-label="Members and invites">
      <FailureOf response={[invites]} />
      <Loaded
        response={waits ? { ...response, data: undefined } : response}
        height={ROW * (1 + Math.min(workspace.member_count, MAX_SHOWN))}
      >
        {() => (
          <>
            <SortedTable
              caption="People"
              rows={rows}
              columns={columns}
              keyOf={nameOf}
              searchText={nameOf}
              first="login"
              ascending
              shown={MAX_SHOWN}
              empty="No members."
            >
              <More {...(invited.more ? invited : paging)} />
            </SortedTable>
            {paging.more && (
              <p class="small muted">
                Sorting and search cover only the first {members.length} of {workspace.member_count} members.
              </p>
            )}
          </>
        )}
      </Loaded>
      {changing && (
        <Confirm
          title={
            isMine(changing.member)
              ? 'Give up the admin role?'
              : `Make ${changing.member.login} ${named[changing.role]}?`
          }
          action={isMine(changing.member) ? 'Give up role' : `Make ${changing.role}`}
          isHarmless={changing.role === 'admin'}
          onClose={() => changeRole(undefined)}
          onYes={async () => {
            const { member, role } = changing
            await setRole(member.login, role)
            toast(
              `${member.login} is now ${named[role]}`,
              // Without the role, a person can't give it back to themselves.
              isMine(member) ? undefined : () => undoRole(member, role),
            )
          }}
        >
          <RoleEffect {...changing} isMine={isMine(changing.member)} />
        </Confirm>
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.login}?`}
          action="Remove member"
          onClose={() => remove(undefined)}
          onYes={async () => {
            await call('DELETE /api/team/workspaces/{id}/members', { path, query: { login: removing.login } })
            refresh()
            toast(`${removing.login} removed`)
          }}
        >
          <p>
            <bdi>{removing.login}</bdi> loses access at once. Invites and access keys that this member created
            here stop working. Past activity stays in the team’s numbers. You can’t undo this: to come back,
            this member needs a new invite.
          </p>
        </Confirm>
      )}
      {revoking && (
        <Confirm
          title="Revoke this invite?"
          action="Revoke invite"
          onClose={() => revoke(undefined)}
          onYes={async () => {
            const invite = revoking.id
            await call('DELETE /api/team/workspaces/{id}/invites/{invite}', { path: { ...path, invite } })
            refresh()
            toast('Invite revoked', async () => {
              await call('POST /api/team/workspaces/{id}/invites', { path, body: sameInvite(revoking) })
              refresh()
              toast('A new invite has the same role, expiry and uses. Share its new link')
            })
          }}
        >
          <p>
            The link with the code <span class="mono">{revoking.code}</span> stops working at once. People who
            joined with it stay. Undo creates an equal invite, with a new link.
          </p>
        </Confirm>
      )}
    </section>
  )
}

const nameOf = (row: Row): string => (isInvite(row) ? row.code : row.login)

const columnsOf = (
  workspace: Workspace & { letters: Letters },
  isMine: (member: Member) => boolean,
  onRole: (member: Member, role: Role) => void,
  onRemove: (member: Member) => void,
  onRevoke: (invite: Invite) => void,
): Column<Row>[] => {
  const columns: Column<Row>[] = [
    {
      name: 'login',
      title: 'Person',
      // Invites come first.
      by: (row) => (isInvite(row) ? '' : row.login.toLowerCase()),
      cell: (row) =>
        isInvite(row) ? (
          <OpenInvite invite={row} />
        ) : (
          <span class="row">
            <Person login={row.login} letters={workspace.letters} />
            {isMine(row) && <span class="tag">you</span>}
          </span>
        ),
    },
    {
      name: 'role',
      title: 'Role',
      by: ({ role }) => role,
      cell: (row) =>
        canManage(workspace) && !isInvite(row) ? (
          <RoleSelect member={row} onChoose={(role) => onRole(row, role)} />
        ) : (
          row.role
        ),
    },
    {
      name: 'joined',
      title: 'Joined',
      room: 'wider',
      by: (row) => (isInvite(row) ? null : row.joined_at),
      cell: (row) => (isInvite(row) ? '–' : dayOf(row.joined_at)),
    },
    {
      name: 'active',
      title: 'Last active',
      room: 'wide',
      by: (row) => (isInvite(row) ? null : row.last_active_day),
      cell: (row) =>
        isInvite(row) ? (
          '–'
        ) : row.last_active_day === null ? (
          <span class="muted" title={sinceText(workspace)}>
            {workspace.activity_privacy === 'team' || sinceText(workspace) ? 'hidden' : 'never'}
          </span>
        ) : (
          fullDay(row.last_active_day)
        ),
    },
  ]
  if (canManage(workspace)) {
    columns.push({
      name: 'actions',
      title: 'Actions',
      numeric: true,
      cell: (row) =>
        isInvite(row) ? (
          <div class="row end">
            <Copy text={linkOf(row)} what="link" of={row.code} />
            <RowMenu of={row.code}>
              <li>
                <button type="button" class="danger" onClick={() => onRevoke(row)}>
                  Revoke invite
                </button>
              </li>
            </RowMenu>
          </div>
        ) : (
          <MemberMenu member={row} isMine={isMine(row)} onRemove={() => onRemove(row)} />
        ),
    })
  }
  return columns
}

/** A member's current role. `undefined` for a person who left. @throws {Failure} */
const readRole = async (id: string, login: string): Promise<Role | undefined> => {
  let cursor: string | null = null
  do {
    const query: { limit: number; cursor?: string } = { limit: PAGE, ...(cursor && { cursor }) }
    const { data } = await call('GET /api/team/workspaces/{id}/members', { path: { id }, query })
    const found = data.members.find((member) => member.login === login)
    if (found) return found.role
    cursor = data.next_cursor
  } while (cursor)
  return undefined
}

/** Asks before the role changes, so the field itself keeps its value. */
const RoleSelect = ({ member, onChoose }: { member: Member; onChoose: (role: Role) => void }) => (
  <select
    class="slight"
    aria-label={`Role of ${member.login}`}
    value={member.role}
    onChange={({ currentTarget }) => {
      const chosen = currentTarget.value as Role
      currentTarget.value = member.role
      onChoose(chosen)
    }}
  >
    <option value="admin">admin</option>
    <option value="member">member</option>
  </select>
)

const RowMenu = ({ of, children }: { of: string; children: ComponentChildren }) => (
  <Menu
    label={`Actions for ${of}`}
    align="end"
    class="dots"
    button={
      <>
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" fill="currentcolor">
          <circle cx="3" cy="8" r="1.5" />
          <circle cx="8" cy="8" r="1.5" />
          <circle cx="13" cy="8" r="1.5" />
        </svg>
        <span class="away">Actions for {of}</span>
      </>
    }
  >
    {children}
  </Menu>
)

const MemberMenu = (props: { member: Member; isMine: boolean; onRemove: () => void }) => {
  const { id, activity_privacy } = useWorkspace()
  const { login } = props.member
  if (props.isMine && activity_privacy === 'team') return null
  return (
    <RowMenu of={login}>
      {(props.isMine || activity_privacy !== 'team') && (
        <li>
          <a href={props.isMine ? `/w/${id}/me` : `/w/${id}?member=${encodeURIComponent(login)}`}>
            View numbers
          </a>
        </li>
      )}
      {!props.isMine && (
        <li>
          <button type="button" class="danger" onClick={props.onRemove}>
            Remove from workspace
          </button>
        </li>
      )}
    </RowMenu>
  )
}

/** Explains what a role change means for the person. */
const RoleEffect = (props: { member: Member; role: Role; isMine: boolean }) => {
  const { activity_privacy } = useWorkspace()
  const login = <bdi>{props.member.login}</bdi>
  if (props.isMine) {
    return (
      <p>
        You will no longer see the team’s numbers or manage the workspace. Invites and access keys that you
        created here stop working. Only another admin can restore your role.
      </p>
    )
  }
  if (props.role === 'admin') {
    return (
      <p>
        {login} will see{' '}
        {activity_privacy === 'team' ? 'the team’s numbers for whole weeks' : 'each member’s daily numbers'}{' '}
        and manage people, repositories and settings. You can undo this.
      </p>
    )
  }
  return (
    <p>
      {login} will no longer see the team’s numbers or manage the workspace. Invites and access keys that{' '}
      {login} created here stop working permanently. You can make {login} an admin again.
    </p>
  )
}

const OpenInvite = ({ invite }: { invite: Invite }) => (
  <>
    <span class="row">
      <span class="mono">{invite.code}</span>
      <span class="tag">invite</span>
    </span>
    <div class="small muted">
      Used {invite.max_uses !== null && `${invite.used_count} of `}
      {counted(invite.max_uses ?? invite.used_count, 'time')}. Expires {time(invite.expires_at)}.{' '}
      <span class="wide">
        Created by <bdi>{invite.created_by}</bdi>.
      </span>
    </div>
  </>
)

const HOUR_MS = 3_600_000

/** An invite with the role, the time and the uses that are left of another. */
const sameInvite = ({ role, expires_at, max_uses, used_count }: Invite) => ({
  role,
  expires_in_hours: Math.max(1, Math.round((Date.parse(expires_at) - Date.now()) / HOUR_MS)),
  max_uses: max_uses === null ? null : Math.max(1, max_uses - used_count),
})

const linkOf = ({ code }: Invite) => `${location.origin}/join/${code}`

const expiryOptions = [
  [24, '1 day'],
  [168, '7 days'],
  [720, '30 days'],
  [2_160, '90 days'],
] as const

const NewInvite = ({ onClose }: { onClose: () => void }) => {
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
      refresh()
    })
  return (
    <Dialog title="New invite" onClose={onClose}>
      {created ? (
        <div class="stack">
          <p>Share this link. It expires on {time(created.expires_at)}.</p>
          <input class="wide-input mono" readOnly value={linkOf(created)} aria-label="Invite link" />
          <div class="row end">
            <button type="button" onClick={onClose}>
              Done
            </button>
            <Copy text={linkOf(created)} what="link" isPrimary />
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
              {expiryOptions.map(([hours, text]) => (
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
  const [asking, ask] = useNew('leave')
  return (
    <Card id="membership" title="My membership">
      <p class="muted">
        If you leave, you lose access at once. Your past activity stays in the team’s numbers.
      </p>
      <div>
        <button type="button" class="danger" onClick={() => ask(true)}>
          <span>
            Leave <bdi>{workspace.name}</bdi>
          </span>
        </button>
      </div>
      {asking && (
        <Confirm
          title={`Leave ${workspace.name}?`}
          action="Leave workspace"
          onClose={() => ask(false)}
          onYes={async () => {
            await call('POST /api/team/workspaces/{id}/leave', { path: { id: workspace.id }, body: {} })
            location.assign('/')
          }}
        >
          <p>
            You lose access at once, and invites and access keys that you created here stop working. Your past
            activity stays in the team’s numbers. You can’t undo this: to come back, you need a new invite.
          </p>
        </Confirm>
      )}
    </Card>
  )
}
