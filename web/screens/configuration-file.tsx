/** The workspace's configuration as a file to download or apply, like the `team-settings` command. */
import { useState } from 'preact/hooks'
import {
  type Difference,
  differenceOf,
  type ConfigurationFile as ReadFile,
  readConfiguration,
  requestOf,
  textOf,
} from '../../client/src/configuration.js'
import { JsonError } from '../../client/src/jsonc.js'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { download } from '../download.js'
import { count, people } from '../format.js'
import { useWorkspace } from '../me.js'
import { toast } from '../toast.js'
import { Card, Dialog, FailureNote, Form } from '../ui.js'

const FILE = 'team-settings.json'

/** Why a file can't be used, with the position of the error. */
export const faultOfFile = (name: string, error: unknown): string =>
  error instanceof JsonError
    ? `${name}, line ${error.place.replace(':', ', column ')}: ${error.message}`
    : `${name} can’t be read`

export const ConfigurationFile = ({ isAdmin, again }: { isAdmin: boolean; again: () => void }) => {
  const path = { id: useWorkspace().id }
  const { busy, failure, act } = useAction()
  const [opened, open] = useState<{ name: string; file: ReadFile }>()
  const [fault, setFault] = useState<string>()
  const choose = async (chosen: Blob & { name: string }) => {
    setFault(undefined)
    try {
      open({ name: chosen.name, file: readConfiguration(new Uint8Array(await chosen.arrayBuffer())) })
    } catch (error) {
      setFault(faultOfFile(chosen.name, error))
    }
  }
  return (
    <Card id="file" title="As a file">
      <p class="muted">
        Settings, locks, idle window, patterns and overrides of all repositories in one file, which a team can
        keep in Git. <a href="/api/docs/settings-as-code">How that works</a>
      </p>
      <div class="row">
        <button
          type="button"
          aria-disabled={busy}
          onClick={() =>
            act(async () => {
              const { data } = await call('GET /api/team/workspaces/{id}/configuration', { path })
              download(FILE, textOf(data), 'application/json')
            })
          }
        >
          Download as file
        </button>
        {isAdmin && (
          <label class="button">
            Apply a file
            <input
              class="away"
              type="file"
              accept=".json,.jsonc,application/json"
              onChange={({ currentTarget }) => {
                const [chosen] = currentTarget.files ?? []
                if (chosen) void choose(chosen)
                // The same file can be chosen again.
                currentTarget.value = ''
              }}
            />
          </label>
        )}
      </div>
      {fault !== undefined && <p role="alert">{fault}. Nothing was changed.</p>}
      {failure && <FailureNote failure={failure} />}
      {opened && <Apply {...opened} onClose={() => open(undefined)} again={again} />}
    </Card>
  )
}

/** A file's changes, and the state it was compared with. */
interface Compared {
  prune: boolean
  etag: string | undefined
  body: object
  result: Difference
}

/** Shows the differences, and then applies them to the state that was compared. */
const Apply = (props: { name: string; file: ReadFile; onClose: () => void; again: () => void }) => {
  const { name, file, onClose, again } = props
  const workspace = useWorkspace()
  const path = { id: workspace.id }
  const { busy, failure, act } = useAction()
  const [prune, setPrune] = useState(false)
  const [compared, setCompared] = useState<Compared>()
  const replace = (etag: string | undefined, body: object, dryRun: boolean) =>
    call('PUT /api/team/workspaces/{id}/configuration', {
      path,
      query: { dry_run: dryRun },
      headers: { 'If-Match': etag },
      body,
    })
  const compare = (prunes: boolean) =>
    act(async () => {
      const { data, etag } = await call('GET /api/team/workspaces/{id}/configuration', { path })
      const request = requestOf(file.sections, data, prunes)
      const { body } = request
      const result = differenceOf((await replace(etag, body, true)).data, request, data)
      setCompared({ prune: prunes, etag, body, result })
    })
  const apply = ({ etag, body }: Compared, reason: string) =>
    act(async () => {
      const { data } = await replace(etag, { ...body, ...(reason && { reason }) }, false).catch((error) => {
        // The file can be compared again with the current state.
        if (error.code === 'version_conflict') setCompared(undefined)
        throw error
      })
      toast(`${count(data.changes.length)} ${data.changes.length === 1 ? 'change' : 'changes'} applied`)
      again()
      onClose()
    })
  const isCompared = compared !== undefined && compared.prune === prune
  const changes = compared?.result.changes.length ?? 0
  return (
    <Dialog title={`Apply ${name}`} onClose={onClose}>
      <Form
        class="stack"
        onSubmit={(given) => {
          if (!isCompared) void compare(prune)
          else if (changes > 0) void apply(compared, String(given.get('reason') ?? '').trim())
        }}
      >
        <label class="check">
          <input
            type="checkbox"
            checked={prune}
            onChange={({ currentTarget }) => setPrune(currentTarget.checked)}
          />
          <span>Remove everything that isn’t in the file</span>
        </label>
        {isCompared && <Differences result={compared.result} members={workspace.member_count} />}
        {isCompared && changes > 0 && (
          <label class="field">
            Reason, for the history (optional)
            <input class="wide-input" name="reason" maxLength={limits.reason_length} autocomplete="off" />
          </label>
        )}
        {failure && <FailureNote failure={failure} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={busy || (isCompared && changes === 0)}>
            {isCompared ? `Apply ${count(changes)} ${changes === 1 ? 'change' : 'changes'}` : 'Show changes'}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

const MAX_SHOWN = 100

const Differences = ({ result, members }: { result: Difference; members: number }) => {
  const { changes, warnings, affected, extras, silenced } = result
  const show = (value: unknown, isValue: boolean) =>
    value === null && !isValue ? <span class="muted">none</span> : <code>{JSON.stringify(value)}</code>
  const hidesRepositories = changes.some(({ scope, key }) => scope === 'workspace' && key === 'patterns')
  return (
    <div class="stack tight">
      {changes.length === 0 ? (
        <p>The workspace already matches the file.</p>
      ) : (
        <>
          <p>
            Affects {count(affected.repositories)}{' '}
            {affected.repositories === 1 ? 'repository' : 'repositories'} and {people(members)}.
          </p>
          {hidesRepositories && (
            <p>
              <strong>The patterns change.</strong> Repositories that no pattern matches any more disappear
              with their settings and minutes.
            </p>
          )}
          <div class="scroll">
            <table>
              <caption class="away">Changes</caption>
              <thead>
                <tr>
                  <th scope="col">Where</th>
                  <th scope="col">Key</th>
                  <th scope="col">Before</th>
                  <th scope="col">After</th>
                </tr>
              </thead>
              <tbody>
                {changes.slice(0, MAX_SHOWN).map(({ scope, key, before, after, hides }) => (
                  <tr key={`${scope} ${key}`}>
                    <th scope="row">{scope}</th>
                    <td class="mono">{key}</td>
                    <td>{show(before, hides === 'before')}</td>
                    <td>{show(after, hides === 'after')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          {changes.length > MAX_SHOWN && <p class="muted">And {count(changes.length - MAX_SHOWN)} more.</p>}
        </>
      )}
      {warnings.length > 0 && <p>Warnings:</p>}
      {warnings.length > 0 && (
        <ul>
          {warnings.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <span class="mono">{path.slice('/body/'.length)}</span> {message}
            </li>
          ))}
        </ul>
      )}
      {silenced.length > 0 && (
        <p>
          These overrides lose their effect, because their key is locked:{' '}
          {silenced
            .slice(0, MAX_SHOWN)
            .map(({ repo, key }) => `${repo}: ${key}`)
            .join(', ')}
        </p>
      )}
      {extras.length > 0 && (
        <p class="muted">
          Only in the workspace, and kept:{' '}
          {extras
            .slice(0, MAX_SHOWN)
            .map(({ section, name }) => `${section}: ${name}`)
            .join(', ')}
        </p>
      )}
    </div>
  )
}
