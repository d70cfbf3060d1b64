/** Personal and workspace keys. */
import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { limits } from '../../schemas/limits.js'
import { announce } from '../announce.js'
import { call, type ReadState, useAction, useRead } from '../api.js'
import { fullDay, time } from '../format.js'
import { useWorkspace } from '../me.js'
import { useNew } from '../query.js'
import { CopyField, curlCommand, Snippet, secretsOfCi, wakatimeConfig, workflow } from '../snippets.js'
import { toast } from '../toast.js'
import { Confirm, Dialog, FailureNote, Form, Loaded } from '../ui.js'

type KeyList = AnswerOf<'GET /api/me/keys'>
type Key = KeyList['keys'][number]
type Scope = Key['scopes'][number]
type CreatedKey = AnswerOf<'POST /api/me/keys'>

/** A scope with a sentence about what it allows. */
type ScopeText = readonly [scope: Scope, about: string]

const personal: readonly ScopeText[] = [
  ['activity:write', 'Send editor activity, choose the time zone and read today’s time.'],
  ['activity:read', 'Read your own minutes and dashboard.'],
  ['settings:read', 'Read settings, versions, projects, overrides and patterns.'],
  [
    'settings:write',
    'Change workspace settings, overrides and patterns where you are an admin. Push, delete and restore repository settings.',
  ],
  ['counts:write', 'Upload commits and closed issues where you are an admin.'],
  ['dashboard:read', 'Read the team dashboard where you are an admin.'],
]

const ofWorkspace = [
  ['settings:read', 'Read settings, versions, projects, overrides and patterns.'],
  ['settings:write', 'Change workspace settings, overrides and patterns, but not the privacy level.'],
  ['counts:write', 'Upload commits and closed issues.'],
  ['dashboard:read', 'Read the team dashboard without working hours.'],
] as const satisfies readonly ScopeText[]

interface NewKeyBody {
  name: string
  scopes: Scope[]
  expires_in_days: number
}

interface Owner {
  response: ReadState<KeyList>
  scopes: readonly ScopeText[]
  workspaceId?: string
  create: (body: NewKeyBody) => Promise<{ data: CreatedKey }>
  revoke: (key: string) => Promise<unknown>
}

export const AccountKeys = () => {
  const response = useRead('GET /api/me/keys', {})
  return (
    <KeySection
      title="My access keys"
      owner={{
        response,
        scopes: personal,
        create: (body) => call('POST /api/me/keys', { body }),
        revoke: (key) => call('DELETE /api/me/keys/{key}', { path: { key } }),
      }}
    >
      <p class="muted">
        An access key lets a script, a build job or an editor act for you, with only the rights that you
        choose. Access keys keep working after you sign out. For a job that serves the whole team, create a
        key in the workspace settings.
      </p>
    </KeySection>
  )
}

/** The workspace's keys, for admins. */
export const WorkspaceKeys = () => {
  const { id } = useWorkspace()
  const response = useRead('GET /api/team/workspaces/{id}/keys', { path: { id } })
  return (
    <KeySection
      title="Access keys"
      owner={{
        response,
        scopes: ofWorkspace,
        workspaceId: id,
        create: (body) =>
          call('POST /api/team/workspaces/{id}/keys', {
            path: { id },
            body: {
              ...body,
              scopes: ofWorkspace.map(([scope]) => scope).filter((one) => body.scopes.includes(one)),
            },
          }),
        revoke: (key) => call('DELETE /api/team/workspaces/{id}/keys/{key}', { path: { id, key } }),
      }}
    >
      <p class="muted">
        These keys work only in this workspace. A key stops working when its creator is no longer an admin
        here.
      </p>
    </KeySection>
  )
}

/** Above this share, the page shows how much of a limit is used. */
const NEARLY = 0.8

const KeySection = (props: { title: string; owner: Owner; children?: preact.ComponentChildren }) => {
  const { response, workspaceId, revoke } = props.owner
  const [creating, create] = useNew('key')
  const [ending, end] = useState<Key>()
  return (
    <section class="card stack tight" aria-labelledby="keys">
      <div class="row apart">
        <h2 id="keys">{props.title}</h2>
        <button type="button" onClick={() => create(true)}>
          Create access key
        </button>
      </div>
      {props.children}
      <Loaded response={response} height={120}>
        {({ keys }) =>
          keys.length === 0 ? (
            <p class="muted">No access keys. To create one, select “Create access key”.</p>
          ) : (
            <ul class="stack">
              {keys.map((key) => (
                <li key={key.id} class="row apart">
                  <div class="grow">
                    <div class="row">
                      <strong>
                        <bdi>{key.name}</bdi>
                      </strong>
                      {key.scopes.map((scope) => (
                        <span key={scope} class="tag">
                          {scope}
                        </span>
                      ))}
                    </div>
                    <div class="small muted">
                      Created {time(key.created_at)}
                      {workspaceId && (
                        <>
                          {' '}
                          by <bdi>{key.created_by}</bdi>
                        </>
                      )}
                      . Expires {time(key.expires_at)}.{' '}
                      {key.last_used_day ? `Last used ${fullDay(key.last_used_day)}` : 'Never used'}.
                    </div>
                  </div>
                  <button type="button" class="danger" onClick={() => end(key)}>
                    Revoke<span class="away"> {key.name}</span>
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {(response.data?.keys.length ?? 0) >= limits.keys_per_owner * NEARLY && (
        <p class="note">
          {response.data?.keys.length} of {limits.keys_per_owner} keys. Revoke keys that you no longer use.
        </p>
      )}
      {creating && <NewKey owner={props.owner} onClose={() => create(false)} />}
      {ending && (
        <Confirm
          title={`Revoke ${ending.name}?`}
          action="Revoke key"
          onClose={() => end(undefined)}
          onYes={async () => {
            await revoke(ending.id)
            toast('Access key revoked')
            response.again()
          }}
        >
          <p>
            Everything that uses this key stops working within 5 seconds. You can’t undo this, but you can
            create a new key.
          </p>
        </Confirm>
      )}
    </section>
  )
}

const expiryOptions = [
  [30, '30 days'],
  [90, '90 days'],
  [limits.key_days_default, '1 year'],
  [limits.key_days_max, '2 years'],
] as const

/** Keys that send activity are stored in plain text on disk, so they can do little else. */
const excludes = (one: Scope, other: Scope) =>
  one !== other &&
  ((one === 'activity:write' && other !== 'activity:read') ||
    (other === 'activity:write' && one !== 'activity:read'))

const NewKey = ({ owner, onClose }: { owner: Owner; onClose: () => void }) => {
  const { busy, failure, act } = useAction()
  const [chosen, choose] = useState<Scope[]>([])
  const [created, set] = useState<CreatedKey>()
  const submit = (form: FormData) =>
    act(async () => {
      const { data } = await owner.create({
        name: String(form.get('name')),
        scopes: chosen,
        expires_in_days: Number(form.get('days')),
      })
      set(data)
      announce('Access key created')
      owner.response.again()
    })
  return (
    <Dialog title={created ? 'Copy your access key' : 'New access key'} onClose={onClose}>
      {created ? (
        <>
          <NewSecret created={created} workspaceId={owner.workspaceId} />
          <div class="row end">
            <button type="button" class="primary" onClick={onClose}>
              Done
            </button>
          </div>
        </>
      ) : (
        <Form class="stack" onSubmit={submit}>
          <label class="field">
            Name
            <input
              class="wide-input"
              name="name"
              required
              pattern=".*\S.*"
              title="Enter a name"
              maxLength={limits.key_name_length}
              placeholder="nightly build"
            />
          </label>
          <fieldset class="stack tight" aria-describedby="scope-help">
            <legend>Scopes</legend>
            {owner.scopes.map(([scope, about]) => (
              <label key={scope} class="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(scope)}
                  disabled={chosen.some((other) => excludes(scope, other))}
                  onChange={(event) =>
                    choose(
                      event.currentTarget.checked
                        ? [...chosen, scope]
                        : chosen.filter((other) => other !== scope),
                    )
                  }
                />
                <span>
                  <strong class="mono">{scope}</strong>
                  <span class="small muted">{about}</span>
                </span>
              </label>
            ))}
            <p id="scope-help" class="small muted" role="status">
              {chosen.length === 0
                ? 'Choose at least one scope.'
                : chosen.includes('activity:write')
                  ? 'Editors keep this key in a plain text file, so it can also have activity:read, but no other scope.'
                  : ''}
            </p>
          </fieldset>
          <label class="field">
            Expires after
            <select name="days">
              {expiryOptions.map(([days, text]) => (
                <option key={days} value={days} selected={days === limits.key_days_default}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          {failure && <FailureNote failure={failure} />}
          <div class="row end">
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="primary" aria-disabled={busy || chosen.length === 0}>
              Create key
            </button>
          </div>
        </Form>
      )}
    </Dialog>
  )
}

/** The secret, which the service shows once, and how to use it. */
const NewSecret = ({ created, workspaceId }: { created: CreatedKey; workspaceId: string | undefined }) => (
  <div class="stack">
    <p>Copy the secret now. The service doesn’t store it and can’t show it again.</p>
    <CopyField label="Secret" what="secret" text={created.secret} />
    {created.scopes.includes('activity:write') ? (
      <Snippet title=".wakatime.cfg" text={wakatimeConfig(created.secret)} />
    ) : (
      <>
        <Snippet title="curl command" text={curlCommand(created, workspaceId)} />
        <Snippet title="CI workflow" text={workflow(created, workspaceId)} />
        <p class="small muted">
          For the workflow, store the secret as <span class="mono">TEAM_KEY</span> in the {secretsOfCi}.
          {workspaceId !== undefined && (
            <>
              {' '}
              To keep the settings in Git, see <a href="/api/docs/settings-as-code">Settings as code</a>.
            </>
          )}
        </p>
      </>
    )}
  </div>
)
