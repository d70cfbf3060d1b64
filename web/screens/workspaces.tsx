import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { visible } from '../format.js'
import { useMe } from '../me.js'
import { Dialog, FailureNote, Form } from '../ui.js'

/** The caller's workspaces, with forms to create or join another one. */
export const MyWorkspaces = () => {
  const { workspaces } = useMe()
  const { route } = useLocation()
  const [making, make] = useState(false)
  return (
    <section class="card stack tight" aria-labelledby="spaces-title">
      <header class="row apart">
        <h2 id="spaces-title">My workspaces</h2>
        <button type="button" class={workspaces.length === 0 ? 'primary' : ''} onClick={() => make(true)}>
          Create workspace
        </button>
      </header>
      {workspaces.length > 0 && (
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
                <th scope="col">My numbers</th>
              </tr>
            </thead>
            <tbody>
              {workspaces.map(({ id, name, role, member_count, activity_privacy, personal }) => (
                <tr key={id}>
                  <th scope="row">
                    <a href={role === 'admin' ? `/w/${id}` : `/w/${id}/people`}>
                      <bdi>{visible(name)}</bdi>
                    </a>
                  </th>
                  <td>{role}</td>
                  <td class="n">{member_count}</td>
                  <td>{personal || activity_privacy === 'team' ? 'private' : 'visible to admins'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Form
        class="row"
        onSubmit={(given) => {
          const code = String(given.get('code')).trim()
          // A whole link also works.
          route(`/join/${encodeURIComponent(code.split('/').at(-1) ?? code)}`)
        }}
      >
        <label class="row">
          Invite code or link
          <input name="code" required maxLength={200} autocomplete="off" />
        </label>
        <button type="submit">View invite</button>
      </Form>
      {making && <NewSpace onClose={() => make(false)} />}
    </section>
  )
}

const NewSpace = ({ onClose }: { onClose: () => void }) => {
  const { login } = useMe()
  const { busy, failure, act } = useAction()
  const [name, setName] = useState('')
  const [patterns, setPatterns] = useState('')
  const submit = () =>
    act(async () => {
      const { data } = await call('POST /api/team/workspaces/create', {
        body: { name, patterns: patterns.split(/[\s,]+/).filter(Boolean) },
      })
      location.assign(`/w/${data.workspace.id}/people`)
    })
  return (
    <Dialog title="New workspace" onClose={onClose}>
      <Form class="stack" onSubmit={submit}>
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
            placeholder={`${login}/*`}
            value={patterns}
            onInput={(event) => setPatterns(event.currentTarget.value)}
            aria-describedby="patterns-help"
          />
        </label>
        <p id="patterns-help" class="small muted">
          For example, <span class="mono">acme/*</span> for all repositories of an owner, or{' '}
          <span class="mono">acme/api-*</span>. Separate patterns with spaces.
        </p>
        {failure && <FailureNote failure={failure} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={busy}>
            Create workspace
          </button>
        </div>
      </Form>
    </Dialog>
  )
}
