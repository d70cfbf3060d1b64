/** Membership that follows an organization on the host: the link, and members whose membership needs a review. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import type { RepohostKind } from '../../schemas/common.js'
import { limits } from '../../schemas/limits.js'
import { call, refresh, useAction, usePages, useRead } from '../api.js'
import { count, dayOf, time } from '../format.js'
import { useMe, useWorkspace } from '../me.js'
import { start } from '../start.js'
import { toast } from '../toast.js'
import { Card, Confirm, FailureNote, Form, Loaded, More, Person } from '../ui.js'

type Link = AnswerOf<'GET /api/team/workspaces/{id}/organization'>

const host = start.repohost_name
const isGitlab = start.repohost_kind === 'gitlab'
const thing = isGitlab ? 'group' : 'organization'
const aThing = isGitlab ? 'a group' : 'an organization'

const SCOPES: Record<RepohostKind, string> = {
  github: 'read:org',
  gitlab: 'read_api',
  forgejo: 'read:organization',
}

/** Says what the link does. */
const Follows = ({ link }: { link: Link }) => (
  <>
    This workspace follows <bdi>{link.organization}</bdi>, which <bdi>{link.linked_by}</bdi> linked on{' '}
    <span title={time(link.linked_at)}>{dayOf(link.linked_at)}</span>.{' '}
    {link.join === 'member'
      ? `Its people become members when they sign in.`
      : `Its people need an invite to join.`}{' '}
    {link.leave === 'remove'
      ? `People who leave it are removed.`
      : `People who leave it stay members until an admin removes them.`}
  </>
)

/** Without a link, the response would be an error. */
const useLink = () => {
  const { id, organization } = useWorkspace()
  return useRead(
    'GET /api/team/workspaces/{id}/organization',
    organization === null ? undefined : { path: { id } },
  )
}

const DAY_MS = 86_400_000
const WARNING_DAYS = 14

const WHY: Record<NonNullable<Link['paused_because']>, (link: Link) => ComponentChildren> = {
  maker_left: ({ linked_by }) => (
    <>
      <bdi>{linked_by}</bdi>, who linked it, is no longer an admin here
    </>
  ),
  maker_not_owner: ({ linked_by, organization }) => (
    <>
      {host} says that <bdi>{linked_by}</bdi>, who linked it, doesn’t own <bdi>{organization}</bdi>
    </>
  ),
  not_confirmed: ({ linked_by, organization, confirmed_at }) => (
    <>
      {host} hasn’t confirmed since {dayOf(confirmed_at)} that <bdi>{linked_by}</bdi>, who linked it, owns{' '}
      <bdi>{organization}</bdi>
    </>
  ),
}

/** Whether people still join through the link, for how long, and what an admin can do. */
const Right = ({ link }: { link: Link }) => {
  const { role } = useWorkspace()
  const [renewing, renew] = useState(false)
  const ends = Date.parse(link.confirmed_at) + limits.membership_unconfirmed_days * DAY_MS
  const endsSoon = role === 'admin' && link.join === 'member' && ends < Date.now() + WARNING_DAYS * DAY_MS
  if (link.paused_because === null && !endsSoon) return null
  if (renewing) return <LinkForm link={link} action="Renew" onClose={() => renew(false)} />
  return (
    <div class="note row apart">
      <span>
        {link.paused_because ? (
          <>
            No one joins for now: {WHY[link.paused_because](link)}. An admin who owns it can renew the link.
          </>
        ) : (
          <>
            From {dayOf(ends)} on, no one joins, unless <bdi>{link.linked_by}</bdi> signs in before then, or
            an admin who owns <bdi>{link.organization}</bdi> renews the link.
          </>
        )}
      </span>
      {role === 'admin' && (
        <button type="button" onClick={() => renew(true)}>
          Renew
        </button>
      )}
    </div>
  )
}

/** Among the people, for every member. Empty if the workspace follows no organization. */
export const FollowedOrganization = () => {
  const { organization } = useWorkspace()
  const response = useLink()
  if (organization === null) return null
  return (
    <section class="card stack tight" aria-label={`Sync members from ${host}`}>
      <Loaded response={response} height={44}>
        {(link) => (
          <>
            <p>
              <Follows link={link} />
            </p>
            <Right link={link} />
          </>
        )}
      </Loaded>
    </section>
  )
}

/** Every member sees the link. Only admins change it. */
export const OrganizationLink = () => {
  const { id, organization } = useWorkspace()
  return (
    <section class="card stack tight" aria-labelledby="organization">
      <h2 id="organization">Sync members from {host}</h2>
      <p class="muted">
        Workspaces can follow {aThing}: its people join when they sign in, and people who leave it are
        removed.
      </p>
      {organization === null ? <NoLink key={id} /> : <Linked key={id} />}
    </section>
  )
}

const NoLink = () => {
  const { role } = useWorkspace()
  const [linking, link] = useState(false)
  if (role !== 'admin') return <p>Not set up.</p>
  if (linking) return <LinkForm link={undefined} action={`Follow ${thing}`} onClose={() => link(false)} />
  return (
    <>
      <p>Not set up.</p>
      <div>
        <button type="button" onClick={() => link(true)}>
          Follow {aThing}
        </button>
      </div>
    </>
  )
}

const Linked = () => {
  const { id, role } = useWorkspace()
  const me = useMe()
  const response = useLink()
  const [changing, change] = useState(false)
  const [ending, end] = useState(false)
  if (changing) return <LinkForm link={response.data} action="Save" onClose={() => change(false)} />
  return (
    <Loaded response={response} height={120}>
      {(link) => (
        <>
          <p>
            <Follows link={link} />
          </p>
          <p class="small muted">
            {host} reveals this only to sign-ins with the scope{' '}
            <span class="mono">{SCOPES[start.repohost_kind]}</span>. A sign-in without it changes nothing.
          </p>
          {role === 'admin' && (
            <div class="row">
              <button type="button" onClick={() => change(true)}>
                Change
              </button>
              <button type="button" class="danger" onClick={() => end(true)}>
                Stop following
              </button>
            </div>
          )}
          {ending && (
            <Confirm
              title={`Stop following ${link.organization}?`}
              action="Stop following"
              onClose={() => end(false)}
              onYes={async () => {
                await call('DELETE /api/team/workspaces/{id}/organization', { path: { id }, body: {} })
                // The focus doesn't return to the link, which is gone.
                me.again()
                toast(`This workspace follows no ${thing} now`)
              }}
            >
              <p>All members stay.</p>
            </Confirm>
          )}
        </>
      )}
    </Loaded>
  )
}

const LinkForm = (props: { link: Link | undefined; action: string; onClose: () => void }) => {
  const { link, action, onClose } = props
  const { id } = useWorkspace()
  const [isChanged, change] = useState(false)
  const { busy, failure, act } = useAction()
  const submit = async (given: FormData) => {
    const done = await act(() =>
      call('PUT /api/team/workspaces/{id}/organization', {
        path: { id },
        headers: { 'X-Repohost-Token': String(given.get('token')).trim() },
        body: {
          organization: String(given.get('organization')).trim(),
          join: given.get('join') === null ? 'nobody' : 'member',
          leave: given.get('leave') === null ? 'keep' : 'remove',
        },
      }),
    )
    if (!done) return
    onClose()
    refresh()
    toast(`This workspace follows the ${thing}`)
  }
  return (
    <Form class="stack tight" onSubmit={submit} onInput={() => change(true)}>
      <label class="field">
        {isGitlab ? 'Group, with all groups above it' : 'Organization'}
        <input
          name="organization"
          required
          maxLength={limits.owner_path_length}
          autocomplete="off"
          spellcheck={false}
          defaultValue={link?.organization ?? ''}
        />
      </label>
      <label class="row">
        <input type="checkbox" name="join" defaultChecked={link?.join === 'member'} />
        Its people become members when they sign in
      </label>
      <label class="row">
        <input type="checkbox" name="leave" defaultChecked={link?.leave === 'remove'} />
        People who leave it are removed
      </label>
      <label class="field">
        {host} access token
        <input
          class="wide-input"
          type="password"
          name="token"
          required
          maxLength={limits.repohost_token_length}
          autocomplete="off"
          aria-describedby="organization-token"
        />
      </label>
      <p id="organization-token" class="small muted">
        It shows that you own the {thing}, needs the scope{' '}
        <span class="mono">{SCOPES[start.repohost_kind]}</span>, and isn’t stored.
      </p>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button type="submit" class="primary" aria-disabled={busy || !isChanged}>
          {action}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Form>
  )
}

/** For admins: waiting removals, and memberships that no sign-in has confirmed lately. Empty if there are none. */
export const ConcernedMembers = () => {
  const { id } = useWorkspace()
  const path = { id }
  const response = useRead('GET /api/team/workspaces/{id}/organization/members', {
    path,
    query: { limit: PAGE },
  })
  const { pages, ...paging } = usePages(response, (cursor) =>
    call('GET /api/team/workspaces/{id}/organization/members', { path, query: { limit: PAGE, cursor } }),
  )
  const [removing, remove] = useState<string[]>([])
  const { failure, act } = useAction()
  const all = pages.flatMap(({ members }) => members)
  const left = all.filter(({ left_at }) => left_at !== null)
  const unconfirmed = all.filter(({ left_at }) => left_at === null)
  const keep = (login: string) =>
    act(async () => {
      await call('DELETE /api/team/workspaces/{id}/organization/members', { path, query: { login } })
      refresh()
      toast(`${login} stays`)
    })
  const [one = '', ...others] = removing
  const what = others.length === 0 ? one : `${count(removing.length)} members`
  return (
    <>
      {left.length > 0 && (
        <Card id="left" title={`Left the ${thing}`}>
          <ul class="stack tight">
            {left.map(({ login, left_at }) => (
              <li key={login} class="row">
                <Person login={login} />
                <span class="muted grow">left on {dayOf(left_at ?? '')}. Remove or keep?</span>
                <button type="button" class="danger" onClick={() => remove([login])}>
                  Remove<span class="away"> {login}</span>
                </button>
                <button type="button" onClick={() => keep(login)}>
                  Keep<span class="away"> {login}</span>
                </button>
              </li>
            ))}
          </ul>
          {failure && <FailureNote failure={failure} />}
          <p class="small muted">
            If {host} says at a later sign-in that someone you keep isn’t in the {thing}, they’re removed
            then, or listed here again.
          </p>
          {left.length > 1 && (
            <div>
              <button type="button" class="danger" onClick={() => remove(left.map(({ login }) => login))}>
                Remove {count(left.length)} members
              </button>
            </div>
          )}
        </Card>
      )}
      {unconfirmed.length > 0 && (
        <Card id="unconfirmed" title="Not confirmed lately">
          <ul class="stack tight">
            {unconfirmed.map(({ login, unconfirmed_since }) => (
              <li key={login} class="row">
                <Person login={login} />
                <span class="muted">
                  {host} last confirmed this member on {dayOf(unconfirmed_since ?? '')}
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <More {...paging} />
      {removing.length > 0 && (
        <Confirm
          title={`Remove ${what}?`}
          action="Remove"
          onClose={() => remove([])}
          onYes={async () => {
            try {
              for (const login of removing)
                await call('DELETE /api/team/workspaces/{id}/members', { path, query: { login } })
            } finally {
              refresh()
            }
            toast(`${what} removed`)
          }}
        >
          <p>
            They have left the {thing}, and lose access at once. Invites and access keys that they created
            here stop working. If they come back to the {thing}, they can join again.
          </p>
        </Confirm>
      )}
    </>
  )
}

const PAGE = 500
