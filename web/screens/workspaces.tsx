import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { count, visible } from '../format.js'
import { startOf } from '../home.js'
import { useMe } from '../me.js'
import { useTitle } from '../title.js'
import { FailureNote, Form } from '../ui.js'

export const Workspaces = () => {
  const { workspaces } = useMe()
  useTitle('Workspaces')
  return (
    <div class="stack narrow">
      <h1>Workspaces</h1>
      {workspaces.length > 0 && <MyWorkspaces />}
      <CreateWorkspace />
      <JoinWorkspace />
    </div>
  )
}

const MyWorkspaces = () => {
  const { workspaces } = useMe()
  return (
    <section class="card stack tight" aria-labelledby="mine">
      <h2 id="mine">My workspaces</h2>
      <div class="scroll">
        <table>
          <caption class="away">My workspaces</caption>
          <thead>
            <tr>
              <th scope="col">Workspace</th>
              <th scope="col">My role</th>
              <th scope="col" class="n">
                Members
              </th>
              <th scope="col" class="wide">
                My numbers
              </th>
            </tr>
          </thead>
          <tbody>
            {workspaces.map(({ id, name, role, member_count, activity_privacy, personal }) => (
              <tr key={id}>
                <th scope="row">
                  <a href={startOf({ id, role, personal })}>
                    <bdi>{visible(name)}</bdi>
                  </a>
                </th>
                <td>{role}</td>
                <td class="n">{count(member_count)}</td>
                <td class="wide">
                  {personal || activity_privacy === 'team' ? 'private' : 'visible to admins'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** `isStep`: within a list that has its own heading. */
export const CreateWorkspace = ({ isStep = false }: { isStep?: boolean }) => {
  const { login } = useMe()
  const { busy, failure, act } = useAction()
  const [name, setName] = useState('')
  const [patterns, setPatterns] = useState(`${login}/*`)
  const submit = () =>
    act(async () => {
      const { data } = await call('POST /api/team/workspaces/create', {
        body: { name, patterns: patterns.split(/[\s,]+/).filter(Boolean) },
      })
      location.assign(startOf(data.workspace))
    })
  return (
    <section class={isStep ? '' : 'card stack tight'} aria-label="New workspace">
      {!isStep && <h2>New workspace</h2>}
      <Form class="stack tight" onSubmit={submit}>
        <label class="field">
          Name
          <input
            class="wide-input"
            required
            maxLength={limits.workspace_name_length}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          Repositories
          <input
            class="wide-input"
            value={patterns}
            onInput={(event) => setPatterns(event.currentTarget.value)}
            aria-describedby="patterns-help"
          />
        </label>
        <p id="patterns-help" class="small muted">
          For example, <span class="mono">acme/*</span> for all repositories of an owner, or{' '}
          <span class="mono">acme/api-*</span>. Separate patterns with spaces. You can change them later.
        </p>
        {failure && <FailureNote failure={failure} />}
        <div>
          <button type="submit" class="primary" aria-disabled={busy}>
            Create workspace
          </button>
        </div>
      </Form>
    </section>
  )
}

export const JoinWorkspace = () => {
  const { route } = useLocation()
  return (
    <section class="card stack tight" aria-labelledby="join">
      <h2 id="join">Invite from an admin</h2>
      <Form
        class="row low"
        onSubmit={(given) => {
          const code = String(given.get('code')).trim()
          // A whole link also works.
          route(`/join/${encodeURIComponent(code.split('/').at(-1) ?? code)}`)
        }}
      >
        <label class="field grow">
          Invite code or link
          <input name="code" class="wide-input" required maxLength={200} autocomplete="off" />
        </label>
        <button type="submit">View invite</button>
      </Form>
    </section>
  )
}
