import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { consent, levelNames, smallTeamText } from '../consent.js'
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

const Fault = ({ children }: { children: string }) => (
  <p class="note" role="alert">
    {children}
  </p>
)

/** `isStep`: within a list that has its own heading. */
export const CreateWorkspace = ({ login, isStep = false }: { login: string; isStep?: boolean }) => {
  const { busy, failure, act } = useAction()
  const [name, setName] = useState('')
  const [level, choose] = useState<Level>()
  const [tries, setTries] = useState(0)
  const isChecked = tries > 0
  const section = useRef<HTMLElement>(null)
  const { patterns, check, field, note } = usePatterns(`${login}/*`, ' ')
  useEffect(() => {
    if (isChecked)
      section.current?.querySelector<HTMLElement>('input:invalid, [aria-invalid="true"]')?.focus()
  }, [tries])
  const hasName = name.trim() !== ''
  const submit = () => {
    setTries(tries + 1)
    if (!check() || !hasName || !level) return
    act(async () => {
      const { data } = await call('POST /api/team/workspaces/create', {
        body: { name, patterns, activity_privacy: level },
      })
      location.assign(startOf(data.workspace))
    })
  }
  return (
    <section class={isStep ? '' : 'card stack tight'} aria-label="New workspace" ref={section}>
      {!isStep && <h2>New workspace</h2>}
      <Form class="stack tight" onSubmit={submit}>
        <label class="field">
          Name
          <input
            class="wide-input"
            required
            maxLength={limits.workspace_name_length}
            value={name}
            aria-invalid={isChecked && !hasName}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        {isChecked && !hasName && <Fault>Enter a name.</Fault>}
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
          {(['team', 'named'] as const).map((one) => (
            <label key={one} class="check">
              <input
                type="radio"
                name="privacy"
                required
                aria-label={levelNames[one]}
                checked={one === level}
                onChange={() => choose(one)}
              />
              <span>
                <strong>{levelNames[one]}</strong>
                <span class="small muted">
                  {consent[one]}
                  {smallTeamText(one, 1)}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
        {isChecked && !level && <Fault>Choose who sees each person’s numbers.</Fault>}
        {failure && <FailureNote failure={failure} />}
        <div>
          {/* The browser would name only the first fault, and before the patterns are checked. */}
          <button type="submit" class="primary" formNoValidate aria-disabled={busy}>
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
