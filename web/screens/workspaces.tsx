import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { consent, levelNames } from '../consent.js'
import { counted, visible } from '../format.js'
import { startOf } from '../home.js'
import type { Me } from '../me.js'
import { usePatterns } from '../patterns.js'
import { closePanel } from '../shortcuts.js'
import { Card, Dialog, FailureNote, Form } from '../ui.js'

type Level = keyof typeof consent

/** A person's workspaces, in a dialog of the switcher. */
export const WorkspacesPanel = ({ me }: { me: Me }) => (
  <Dialog title="Workspaces" onClose={() => closePanel('workspaces')}>
    {me.workspaces.length > 0 && <MyWorkspaces workspaces={me.workspaces} />}
    <CreateWorkspace login={me.login} />
    <JoinWorkspace />
  </Dialog>
)

const MyWorkspaces = ({ workspaces }: Pick<Me, 'workspaces'>) => (
  <ul class="stack tight" aria-label="My workspaces">
    {workspaces.map(({ id, name, role, member_count, activity_privacy, personal }) => (
      <li key={id}>
        <a href={startOf({ id })} onClick={close}>
          <bdi>{visible(name)}</bdi>
        </a>
        <div class="small muted">
          {role}, {counted(member_count, 'member')}. My numbers are{' '}
          {personal || activity_privacy === 'team' ? 'private' : 'visible to admins'}.
        </div>
      </li>
    ))}
  </ul>
)

/** `isStep`: within a list that has its own heading. */
export const CreateWorkspace = ({ login, isStep = false }: { login: string; isStep?: boolean }) => {
  const { busy, failure, act } = useAction()
  const [name, setName] = useState('')
  const { patterns, check, field, note } = usePatterns(`${login}/*`, ' ')
  const submit = (activity_privacy: Level) =>
    act(async () => {
      const { data } = await call('POST /api/team/workspaces/create', {
        body: { name, patterns, activity_privacy },
      })
      location.assign(startOf(data.workspace))
    })
  return (
    <section class={isStep ? '' : 'card stack tight'} aria-label="New workspace">
      {!isStep && <h2>New workspace</h2>}
      <Form class="stack tight" onSubmit={(given) => check() && submit(given.get('privacy') as Level)}>
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
          <input class="wide-input" {...field} aria-describedby="patterns-help" />
        </label>
        {note}
        <p id="patterns-help" class="small muted">
          For example, <span class="mono">acme/*</span> for all repositories of an owner, or{' '}
          <span class="mono">acme/api-*</span>. Separate patterns with spaces. You can change them later.
        </p>
        <fieldset class="stack tight">
          <legend>Who sees each person’s numbers</legend>
          {(['team', 'named'] as const).map((level) => (
            <label key={level} class="check">
              <input type="radio" name="privacy" value={level} required aria-label={levelNames[level]} />
              <span>
                <strong>{levelNames[level]}</strong>
                <span class="small muted">{consent[level]}</span>
              </span>
            </label>
          ))}
        </fieldset>
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
    <Card id="join" title="Invite from an admin">
      <Form
        class="row low"
        onSubmit={(given) => {
          const code = String(given.get('code')).trim()
          // A whole link also works.
          closePanel('workspaces')
          route(`/join/${encodeURIComponent(code.split('/').at(-1) ?? code)}`)
        }}
      >
        <label class="field grow">
          Invite code or link
          <input name="code" class="wide-input" required maxLength={200} autocomplete="off" />
        </label>
        <button type="submit">View invite</button>
      </Form>
    </Card>
  )
}
