/** Editors that send heartbeats: setup, project names, and importing older heartbeats. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Client, createClient } from '../../client/src/client.js'
import type { AnswerOf } from '../../client/src/operations.js'
import { limits } from '../../schemas/limits.js'
import { coveredAddress, coveringWorkspaces } from '../addresses.js'
import { announce } from '../announce.js'
import { call, refresh, useAction, usePolling, useRead } from '../api.js'
import { EditorKey } from '../editor-key.js'
import { bytes, count, duration, time, visible } from '../format.js'
import { type Me, useMe } from '../me.js'
import { useProjects } from '../projects.js'
import { Snippet } from '../snippets.js'
import { useTitle } from '../title.js'
import { toast } from '../toast.js'
import { Card, type Column, Dialog, FailureNote, Form, Loaded, RepoName, SortedTable } from '../ui.js'
import { AccountKeys } from './access-keys.js'

type Project = AnswerOf<'GET /api/me/editor-projects'>['projects'][number]
type ImportState = AnswerOf<'GET /api/wakatime/v1/users/{user}/import'>

export const Editors = () => {
  useTitle('Editors and keys')
  return (
    <div class="stack narrow">
      <h1>Editors and keys</h1>
      <Extension />
      <SetUp />
      <Projects />
      <Import />
      <AccountKeys />
    </div>
  )
}

const INSTALL = `curl -fLO ${location.origin}/api/extension.vsix
code --install-extension extension.vsix`

const Extension = () => (
  <Card id="extension" title="VS Code">
    <p>
      The extension applies your team’s settings and counts your minutes. Install it, then run{' '}
      <strong>Team Settings: Sign In</strong> in the editor.
    </p>
    <Snippet title="In a terminal" what="commands" text={INSTALL} />
    <p class="small muted">
      Editors without a command line: <a href="/api/extension.vsix">download the file</a>, and drop it on the
      list of extensions.
    </p>
  </Card>
)

const BEAT_POLL_MS = 5_000

const SetUp = () => {
  const response = useRead('GET /api/me', {})
  usePolling(response.data?.heartbeats === null, response.again, BEAT_POLL_MS)
  return (
    <Card id="set-up" title="Any other editor">
      <p class="muted">
        WakaTime has plugins for about eighty editors and tools. Point a plugin at this service, and the
        service counts your minutes. It reads each heartbeat’s time and project, and doesn’t store files,
        branches or languages.
      </p>
      <ol class="numbered stack tight">
        <li>
          Install the{' '}
          <a href="https://wakatime.com/plugins" target="_blank" rel="noreferrer">
            WakaTime plugin
          </a>{' '}
          for your editor. You need no WakaTime account.
        </li>
        <li>
          Create an editor key for this computer. Then add the lines that appear to the file{' '}
          <span class="mono">.wakatime.cfg</span> in your home folder.
        </li>
        <li>Use your editor for two minutes. Its first heartbeat then appears below by itself.</li>
      </ol>
      <EditorKey />
      <Loaded response={response} height={36}>
        {({ heartbeats }) => (
          <p role="status">
            {heartbeats
              ? `Last heartbeat: ${time(heartbeats.last_at)}.`
              : 'No heartbeat has arrived yet. It appears here by itself.'}
          </p>
        )}
      </Loaded>
    </Card>
  )
}

const Projects = () => {
  const response = useRead('GET /api/me/editor-projects', {})
  // The workspaces aren't known to people without a subscription.
  const workspaces = (useMe() as Me | null)?.workspaces ?? []
  const [assigning, assign] = useState<Project>()
  const { busy, failure, act } = useAction()
  const ignore = ({ name, repo }: Project) =>
    act(async () => {
      await call('PUT /api/me/editor-projects', { body: { name, repo: null } })
      response.again()
      toast(
        `${name} ignored`,
        repo === null
          ? undefined
          : async () => {
              await call('PUT /api/me/editor-projects', { body: { name, repo } })
              refresh()
            },
      )
    })
  const columns: Column<Project>[] = [
    { name: 'name', title: 'Name', by: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      name: 'state',
      title: 'Counts for',
      // Unassigned names come first in descending order.
      by: ({ state, repo }) => (state === 'waiting' ? 2 : repo ? 1 : 0),
      cell: ({ state, repo }) => (
        <>
          {repo && (
            <a href={coveredAddress(workspaces, repo)}>
              <RepoName repo={repo} />
            </a>
          )}{' '}
          <span class="tag">{state}</span>
        </>
      ),
    },
    {
      name: 'minutes',
      title: 'Stored',
      numeric: true,
      room: 'wide',
      by: ({ minutes }) => minutes,
      cell: ({ minutes }) => duration(minutes),
    },
    {
      name: 'last',
      title: 'Last heartbeat',
      room: 'wide',
      by: ({ last_at }) => last_at,
      cell: ({ last_at }) => last_at && time(last_at),
    },
    {
      name: 'actions',
      title: 'Actions',
      numeric: true,
      cell: (project) => (
        <div class="row end">
          <button type="button" class="plain act" onClick={() => assign(project)}>
            {project.repo ? 'Change' : 'Assign'}
            <span class="away"> {project.name}</span>
          </button>
          {project.state !== 'ignored' && (
            <button type="button" class="plain act" aria-disabled={busy} onClick={() => ignore(project)}>
              Ignore<span class="away"> {project.name}</span>
            </button>
          )}
        </div>
      ),
    },
  ]
  return (
    <Card id="projects" title="Project names">
      <p class="muted">
        Some plugins send a project name instead of a repository, usually the name of the folder. The service
        assigns a name automatically if exactly one of your repositories has it. Otherwise the name waits here
        for {limits.heartbeat_days} days, and so do repositories that none of your workspaces counts. Only you
        see this list.
      </p>
      {failure && <FailureNote failure={failure} />}
      <Loaded response={response} height={120}>
        {({ projects, dropped }) => (
          <>
            <SortedTable
              caption="Project names"
              rows={projects}
              columns={columns}
              keyOf={({ name }) => name}
              searchText={({ name, repo }) => `${name} ${repo ?? ''}`}
              first="state"
              empty="No project names. Plugins that send the repository’s address don’t need them."
            />
            {dropped > 0 && (
              <p class="small muted">
                The list holds {limits.editor_projects_waiting} waiting names. {count(dropped)} older{' '}
                {dropped === 1 ? 'one has' : 'ones have'} made room.
              </p>
            )}
          </>
        )}
      </Loaded>
      {assigning && (
        <Assign project={assigning} onClose={() => assign(undefined)} onAssigned={response.again} />
      )}
    </Card>
  )
}

const Assign = (props: { project: Project; onClose: () => void; onAssigned: () => void }) => {
  const { name, repo, minutes } = props.project
  const { projects } = useProjects()
  const [typed, type] = useState(repo ?? '')
  // The workspaces aren't known to people without a subscription.
  const workspaces = coveringWorkspaces((useMe() as Me | null)?.workspaces ?? [], typed.trim())
  const { busy, failure, act } = useAction()
  const repos = new Set(projects.map(({ owner, repo }) => `${owner}/${repo}`))
  const submit = async (form: FormData) => {
    const chosen = String(form.get('repo')).trim()
    const done = await act(async () => {
      const { data } = await call('PUT /api/me/editor-projects', { body: { name, repo: chosen } })
      const parts = data.counted.map(
        (one) => `In ${visible(one.name)}: ${duration(one.minutes)} since you joined.`,
      )
      toast(
        [
          `${name} assigned to ${chosen}.`,
          ...parts,
          parts.length > 0 ? 'The rest stays yours.' : 'No stored time counted in a workspace.',
        ].join(' '),
      )
      props.onAssigned()
    })
    if (done) props.onClose()
  }
  return (
    <Dialog title={`Assign ${name}`} onClose={props.onClose}>
      <Form class="stack" onSubmit={submit}>
        <label class="field">
          Repository
          <input
            class="wide-input"
            name="repo"
            list="known-repos"
            required
            pattern="\s*[^\s\/]+\/[^\s\/]+\s*"
            title="owner/repository"
            placeholder="acme/web"
            value={typed}
            onInput={(event) => type(event.currentTarget.value)}
            autocomplete="off"
          />
          <datalist id="known-repos">
            {[...repos].map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </label>
        <p class="muted" role="status" hidden={!/.\/./.test(typed)}>
          {workspaces.length > 0
            ? `In ${workspaces.map(({ name }) => name).join(' and ')}, activity with this name counts from now on, and so does the part of its ${duration(minutes)} since you joined. The rest stays yours.`
            : `No workspace of yours covers this repository. The ${duration(minutes)} stay yours, and only you see them.`}{' '}
          Minutes that already counted for another repository stay there.
        </p>
        {failure && <FailureNote failure={failure} />}
        <div class="row end">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={busy}>
            Assign repository
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

const path = { user: 'current' }
const POLL_MS = 2_000
/** The service closes slower uploads after a minute. */
const UPLOAD_MS = 120_000

/** Sends a file as the body. Only `XMLHttpRequest` reports how much has been sent. */
const sendingFile =
  (file: Blob, onSent: (share: number) => void): typeof fetch =>
  (address, { headers, signal } = {}) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.open('POST', String(address))
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
      request.upload.onprogress = ({ loaded }) => onSent(file.size === 0 ? 1 : loaded / file.size)
      request.onload = () => {
        const { status, responseText } = request
        const kept = ['x-request-id', 'retry-after'].map((name) => [name, request.getResponseHeader(name)])
        const found = kept.filter((pair): pair is [string, string] => pair[1] !== null)
        resolve(new Response(responseText, { status, headers: found }))
      }
      request.onerror = () => reject(new TypeError('The connection failed'))
      request.onabort = () => reject(signal?.reason)
      signal?.addEventListener('abort', () => request.abort())
      request.send(file)
    })

/** Exports are text, which gets about ten times smaller. */
const compress = (file: Blob): Promise<Blob> =>
  new Response(file.stream().pipeThrough(new CompressionStream('gzip'))).blob()

/** Packed files stay as they are. */
const isPacked = async (file: Blob): Promise<boolean> => {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return (first === 0x1f && second === 0x8b) || (first === 0x50 && second === 0x4b)
}

/** Also works while the page closes. */
const closing = createClient({
  baseUrl: '',
  cookie: true,
  fetch: (address, options) => fetch(address, { ...options, keepalive: true }),
})

/** Editor routes don't accept cookies, so this creates a key, keeps it only in memory, and revokes it afterwards. */
const withKey = async (work: (secret: string) => Promise<void>) => {
  const { data } = await call('POST /api/me/keys', {
    body: { name: 'Import in the dashboard', scopes: ['activity:write'], expires_in_days: 1 },
  })
  const revoke = () => call('DELETE /api/me/keys/{key}', { path: { key: data.id } }, closing).catch(() => {})
  addEventListener('pagehide', revoke)
  try {
    await work(data.secret)
  } finally {
    removeEventListener('pagehide', revoke)
    await revoke()
  }
}

const Import = () => {
  const [progress, report] = useState<UploadProgress | ImportState>()
  const [file, choose] = useState<File>()
  const [isRefused, refuse] = useState(false)
  const { busy, failure, act } = useAction()
  const running = useRef<AbortController>(undefined)
  const via = useRef<Client>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  /** Shows the progress until the import ends. */
  const follow = async (client: Client, signal: AbortSignal) => {
    for (;;) {
      const { data } = await call('GET /api/wakatime/v1/users/{user}/import', { path, signal }, client)
      report(data)
      if (data.state !== 'running') return announce(summaryOf(data))
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  const run = (before: (secret: string, signal: AbortSignal) => Promise<unknown>) => {
    const stop = new AbortController()
    running.current = stop
    report(undefined)
    return act(() =>
      withKey(async (token) => {
        try {
          await before(token, stop.signal)
          via.current = createClient({ baseUrl: '', token })
          await follow(via.current, stop.signal)
        } catch (error) {
          report(undefined)
          // The person cancelled the upload, or left the screen.
          if (!stop.signal.aborted) throw error
        } finally {
          via.current = undefined
        }
      }),
    )
  }
  const upload = (file: File) =>
    run(async (token, signal) => {
      report({ packing: true })
      const packed = (await isPacked(file)) ? file : await compress(file)
      if (packed.size > limits.import_body_bytes) {
        refuse(true)
        running.current?.abort()
      }
      signal.throwIfAborted()
      report({ sent: 0 })
      const client = createClient({
        baseUrl: '',
        token,
        fetch: sendingFile(packed, (sent) => report({ sent })),
      })
      return call('POST /api/wakatime/v1/users/{user}/import', { path, signal, timeoutMs: UPLOAD_MS }, client)
    })
  const cancelling = useAction()
  const cancel = () =>
    cancelling.act(async () => {
      if (via.current) await call('DELETE /api/wakatime/v1/users/{user}/import', { path }, via.current)
      else running.current?.abort()
    })
  const tooLarge = isRefused || (file !== undefined && file.size > limits.import_unpacked_bytes)
  return (
    <Card id="import" title="Import">
      <p class="muted">
        Upload the heartbeats that you exported from WakaTime (as a data dump), wakapi or hackatime. Days
        before you joined a workspace aren’t added to it. If you import a file again, only missing minutes are
        added. The page compresses the file before it sends it. A file can have up to{' '}
        {bytes(limits.import_unpacked_bytes)}, and {bytes(limits.import_body_bytes)} once compressed, and must
        arrive within 15 minutes.
      </p>
      <Form class="stack tight" onSubmit={() => file && !tooLarge && upload(file)}>
        <label class="field">
          File with heartbeats
          <input
            class="wide-input"
            type="file"
            accept=".json,.csv,.tsv,.gz,.zip"
            required
            onChange={(event) => {
              choose(event.currentTarget.files?.[0])
              refuse(false)
            }}
          />
        </label>
        <div class="row">
          <button type="submit" class="primary" aria-disabled={busy || tooLarge}>
            Upload file
          </button>
          <button type="button" aria-disabled={busy} onClick={() => run(async () => {})}>
            Check latest import
          </button>
        </div>
      </Form>
      {tooLarge && <p role="alert">This file is too large. Export fewer days at a time.</p>}
      {progress && <Progress progress={progress} />}
      {busy && progress && (
        <div>
          <button type="button" aria-disabled={cancelling.busy} onClick={cancel}>
            Cancel import
          </button>
        </div>
      )}
      {(failure ?? cancelling.failure) && <FailureNote failure={(failure ?? cancelling.failure) as never} />}
      <p class="small muted">
        To upload, this page creates a temporary access key with the scope activity:write, keeps it in memory,
        and revokes it when the import ends or you leave the page. If you leave, the import continues. The key
        expires after 1 day in any case.
      </p>
    </Card>
  )
}

/** Heartbeats that don't count, with the reason. */
const skippedText = ({ time, future, project, recording_off }: ImportState['skipped']): string => {
  const reasons = [
    time > 0 && `${count(time)} without a time that can be read`,
    future > 0 && `${count(future)} in the future`,
    project > 0 && `${count(project)} without a project`,
    recording_off > 0 && `${count(recording_off)} for which you switched off recording`,
  ].filter((reason) => reason !== false)
  return reasons.length === 0 ? '' : ` Heartbeats that don’t count: ${reasons.join(', ')}.`
}

const summaryOf = ({ state, heartbeats, skipped, days, minutes, own_minutes }: ImportState): string => {
  if (state === 'none') return `There was no import in the last ${limits.heartbeat_days} days.`
  const result = `Heartbeats: ${count(heartbeats)}. Days: ${count(days)}. Added to workspaces: ${duration(minutes)}. Added only for you: ${duration(own_minutes)}.${skippedText(skipped)}`
  if (state === 'failed')
    return `The import ended early, because your own time can have at most ${count(limits.own_rows)} rows, one per day and project. Minutes that were already counted stay. ${result}`
  return state === 'cancelled'
    ? `The import was cancelled. Minutes that were already counted stay. ${result}`
    : `Import complete. ${result}`
}

type UploadProgress = { packing: true } | { sent: number }

const Progress = ({ progress }: { progress: UploadProgress | ImportState }) => {
  if ('packing' in progress)
    return (
      <label class="field">
        Compressing the file
        <progress />
      </label>
    )
  if ('sent' in progress) {
    const text = progress.sent < 1 ? 'Uploading' : 'Reading the file'
    return (
      <label class="field">
        {text}
        <progress value={progress.sent < 1 ? progress.sent : undefined} />
      </label>
    )
  }
  if (progress.state !== 'running') return <p>{summaryOf(progress)}</p>
  return (
    <label class="field">
      Counting: {count(progress.days_done)} of {count(progress.days)} days
      <progress value={progress.days_done} max={Math.max(1, progress.days)} />
    </label>
  )
}
