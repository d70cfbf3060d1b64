/** Changes by others that affect the person, each shown until it's dismissed, and below them how the person joined. */
import { useEffect, useState } from 'preact/hooks'
import type { AnswerOf } from '../client/src/operations.js'
import { splitRepoPath } from '../client/src/pattern.js'
import { repoSettingsAddress } from './addresses.js'
import { call } from './api.js'
import { count, fullDay, time, visible } from './format.js'
import { isNewlyJoined } from './home.js'
import { JoinedByOrganization } from './joined.js'
import { useMe, useWorkspace } from './me.js'
import { MoveForm } from './screens/move-settings.js'
import { settingAddress } from './setting-key.js'
import { start } from './start.js'
import { readStored, store } from './storage.js'

type Notice = AnswerOf<'GET /api/me/notices'>['notices'][number]

/** How many notices, and how many names in a sentence. The person can ask for more notices. */
const MAX_SHOWN = 3

/** As an editor would, so the zone isn't chosen. */
const nameTimezone = async () => {
  if ((await call('GET /api/me', {})).data.timezone !== null) return
  const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
  await call('POST /api/team/active-minutes', { body: { entries: [], timezone } })
}

/** The notices, and how the person joined, above every screen. It names the browser's time zone if none is known. */
export const AboveScreen = (props: { notices: Notice[] }) => {
  const workspace = useWorkspace()
  useEffect(() => {
    nameTimezone().catch(() => {})
  }, [])
  return (
    <>
      <Notices {...props} />
      {workspace && isNewlyJoined(workspace) && (
        <JoinedByOrganization key={workspace.id} workspace={workspace} />
      )}
    </>
  )
}

const Notices = ({ notices }: { notices: Notice[] }) => {
  const name = `dismissed-notices ${useMe().login}`
  const [dismissed, set] = useState(() => readStored(name)?.split(' ') ?? [])
  const [showsAll, showAll] = useState(false)
  const left = notices.filter(({ id }) => !dismissed.includes(id))
  if (left.length === 0) return null
  const dismiss = (id: string) => {
    // Only listed ones are remembered, so that the browser's list doesn't grow endlessly.
    const next = notices.map((one) => one.id).filter((one) => one === id || dismissed.includes(one))
    store(name, next.join(' '))
    set(next)
  }
  return (
    <section class="note stack tight" aria-labelledby="notices">
      <h2 id="notices" class="away">
        Changes that affect you
      </h2>
      <ul class="stack tight">
        {(showsAll ? left : left.slice(0, MAX_SHOWN)).map((one) => (
          <li key={one.id} class="row apart">
            <div class="grow stack tight">
              <span id={one.id}>
                <time class="muted" dateTime={one.at}>
                  {time(one.at)}
                </time>{' '}
                <Sentence {...one} />
              </span>
              {one.code === 'repo_renamed' && <MoveRenamed notice={one} onMoved={() => dismiss(one.id)} />}
            </div>
            <button
              type="button"
              id={`dismiss-${one.id}`}
              aria-labelledby={`dismiss-${one.id} ${one.id}`}
              onClick={() => dismiss(one.id)}
            >
              Dismiss
            </button>
          </li>
        ))}
      </ul>
      {!showsAll && left.length > MAX_SHOWN && (
        <div>
          <button type="button" onClick={() => showAll(true)}>
            Show {count(left.length - MAX_SHOWN)} more
          </button>
        </div>
      )}
    </section>
  )
}

/** Lets an admin move the settings of a repository that the host reported as renamed. */
const MoveRenamed = ({ notice, onMoved }: { notice: Notice; onMoved: () => void }) => {
  const [isOpen, open] = useState(false)
  const { workspace, repos, renamed_to } = notice
  const [from] = repos
  if (from === undefined || renamed_to === null) return null
  return isOpen ? (
    <MoveForm
      {...{ workspaceId: workspace.id, from, to: renamed_to, onMoved }}
      onCancel={() => open(false)}
    />
  ) : (
    <div>
      <button
        type="button"
        id={`move-${notice.id}`}
        aria-labelledby={`move-${notice.id} ${notice.id}`}
        onClick={() => open(true)}
      >
        Move settings
      </button>
    </div>
  )
}

const Sentence = ({ code, workspace, login, named_from, keys, repos, renamed_to }: Notice) => {
  const team = <bdi>{visible(workspace.name)}</bdi>
  const person = login === null ? 'An admin' : <bdi>{login}</bdi>
  const path = `/w/${workspace.id}`
  if (code === 'level_loosened')
    return (
      <>
        {person} loosened the privacy level of {team}. Admins see each member’s daily numbers by name
        {named_from && ` from ${fullDay(named_from)} on`}. Earlier days stay hidden.{' '}
        <a href={`${path}/settings/privacy`}>Privacy of {team}</a>
      </>
    )
  if (code === 'key_locked')
    return (
      <>
        {person} locked <Names names={keys} address={(key) => settingAddress(workspace.id, key)} /> in {team},
        so overrides no longer change {keys.length === 1 ? 'it' : 'them'}:{' '}
        <Names names={repos} address={(repo) => repoSettingsAddress(workspace.id, splitRepoPath(repo))} />
      </>
    )
  if (code === 'admin_added')
    return (
      <>
        {person} is now an admin of {team}. <a href={`${path}/people`}>People in {team}</a>
      </>
    )
  if (code === 'repo_removed')
    return (
      <>
        {person} changed the patterns of {team}.{' '}
        {repos.length === 1 ? 'This repository no longer counts' : 'These repositories no longer count'}{' '}
        there: <Names names={repos} />
      </>
    )
  if (code === 'repo_renamed')
    return (
      <>
        {start.repohost_name} reported that <Names names={repos} /> is now called{' '}
        <bdi class="mono">{renamed_to}</bdi>. Its settings in {team} are still under the old name.
      </>
    )
  if (code === 'removed_by_organization')
    return (
      <>
        You’re no longer a member of {team}, because you left its organization at {start.repohost_name}.
      </>
    )
  return <>An admin removed you from {team}. You need a new invite to come back.</>
}

const Names = ({ names, address }: { names: string[]; address?: (name: string) => string }) => (
  <>
    {names.slice(0, MAX_SHOWN).map((name, index) => (
      <span key={name}>
        {index > 0 && ', '}
        {address ? <a href={address(name)}>{name}</a> : <bdi class="mono">{name}</bdi>}
      </span>
    ))}
    {names.length > MAX_SHOWN && ` and ${count(names.length - MAX_SHOWN)} more`}
  </>
)
