/** As much of an editor as the extension needs: settings, folders, Git, and a person who types and presses buttons. */

import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'jsonc-parser'
import { languagesOf } from '../schemas/settings-keys.js'
import { projectRoot } from '../src/platform/process/root.js'
import { bundle } from './bundle.js'

const run = promisify(execFile)

type Values = Record<string, unknown>
type Listener = (event: never) => unknown
interface Loaded {
  activate(context: unknown): void
  deactivate(): Promise<void> | undefined
}
type Properties = Record<string, { default?: unknown; scope?: string }>

/** A folder: its path, or its address at the host (`vscode-vfs://…`), and the remote of the repository in it. */
export interface OpenFolder {
  address: string
  remote: string
  /** Remotes besides `origin`, by name. */
  remotes?: Record<string, string>
  /** Whether Git tracks its .vscode/settings.json. */
  tracked?: boolean
  /** The file's text in Git's index. */
  inIndex?: string
  /** Whether there's a real repository, which says both. */
  git?: boolean
  /** Repositories inside, by folder and remote, instead of one for the folder. */
  within?: Record<string, string>
}

/** An installed extension. */
export interface FakeExtension {
  id: string
  packageJSON: { capabilities?: object; contributes: { configuration: { properties: Properties } } }
}

/** Settings of the editor itself, which are in no manifest. Those of `window` scope can be set for a folder only if it's the only one. */
const OF_EDITOR: Properties = {
  'editor.tabSize': { default: 4, scope: 'language-overridable' },
  'editor.rulers': { default: [], scope: 'language-overridable' },
  'editor.insertSpaces': { default: true, scope: 'language-overridable' },
  'editor.renderControlCharacters': { default: true, scope: 'language-overridable' },
  'files.eol': { default: 'auto', scope: 'language-overridable' },
  'window.zoomLevel': { default: 0, scope: 'window' },
  'window.titleBarStyle': { default: 'custom', scope: 'application' },
}
const EXT: FakeExtension = {
  id: 'acme.ext',
  packageJSON: {
    capabilities: { untrustedWorkspaces: { supported: true } },
    contributes: {
      configuration: {
        properties: {
          'ext.theme': { default: 'light', scope: 'resource' },
          'ext.path': { default: '', scope: 'resource' },
        },
      },
    },
  },
}

let code: Promise<string> | undefined
const bundled = () => {
  code ??= bundle('extension/src/desktop.ts', {
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    mainFields: ['module', 'main'],
  })
  return code
}

/** Text that the editor shows as a link in a notification. */
const LINKS = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)[^)\s]+(?: ["'].+?["'])?\)/gi

/** An installation of the editor, with the extension, one person and any number of windows. */
export const installEditor = async ({
  folder,
  url,
  extensions = [],
  explained = true,
  packaged,
  inBrowser = false,
}: {
  folder: string
  url: string
  /** Installed extensions, besides `ext`. */
  extensions?: FakeExtension[]
  /** Whether the person has agreed to the first write. */
  explained?: boolean
  /** In a browser, a tab loads its secrets once, and isn't told of those that another tab changes. */
  inBrowser?: boolean
  /** Another extension instead of this one: its code and manifest. */
  packaged?: { text: string; manifest: string }
}) => {
  const packageJSON = JSON.parse(
    packaged?.manifest ?? (await readFile(join(projectRoot, 'extension/package.json'), 'utf8')),
  )
  const id = `${packageJSON.publisher}.${packageJSON.name}`
  const palette: { command: string; when: string }[] = packageJSON.contributes.menus.commandPalette
  const text = packaged?.text ?? (await bundled())
  const installed: FakeExtension[] = [{ id, packageJSON }, EXT, ...extensions]
  const registered: Properties = Object.assign(
    {},
    OF_EDITOR,
    ...installed.map(({ packageJSON: { contributes } }) => contributes.configuration.properties),
  )
  const user: Values = { 'teamSettings.url': url }
  const secrets = new Map<string, string>()
  const globalState = new Map<string, unknown>(explained ? [['explained', true]] : [])
  const secretListeners = new Set<Listener>()
  const requests: { method: string; path: string; query: string; body: string }[] = []
  const person = {
    /** The token of the editor's GitHub account, once the person agrees to use it. */
    github: undefined as string | undefined,
    /** The text typed into a box, and the entry of a list that is chosen. */
    types: undefined as string | undefined,
    picks: undefined as string | undefined,
    /** Entries of a list that they tick, besides those that are ticked already. */
    ticks: [] as string[],
    /** Whether they close a list in which they could tick entries. */
    cancels: false,
    /** The buttons that the person presses wherever they appear. */
    presses: [] as string[],
  }
  const seen = {
    messages: [] as string[],
    details: [] as string[],
    /** Links in notifications, where the editor shows them as such. Some run a command. */
    links: [] as string[],
    /** Every write of a settings file by the extension, and the events that it caused in all windows. */
    writes: 0,
    events: 0,
    listed: [] as { label: string; description?: string; detail?: string; picked?: boolean }[],
    scopes: [] as string[][],
    /** How often the person was asked for an account. */
    asked: 0,
    /** Addresses that were opened in a browser. */
    opened: [] as string[],
  }
  /** The settings of each folder, as its file has them. */
  const values = new Map<string, Values>()
  /** Windows that are told of a folder's changes. */
  const watching = new Map<string, Set<(changed: string[], inner: string[]) => void>>()
  /** From noon at the latest, so that no test runs into the next day. */
  const clock = { ahead: Math.min(0, new Date().setHours(12, 0, 0, 0) - Date.now()) }
  class EditorDate extends Date {
    constructor(time: number = EditorDate.now()) {
      super(time)
    }
    static override now() {
      return Date.now() + clock.ahead
    }
  }
  /** Whether a request reaches the network. */
  const network = {
    silent: false,
    silentAt: undefined as string | undefined,
    /** Responses from here are held back. */
    heldAt: undefined as string | undefined,
    held: [] as (() => void)[],
  }

  const openWindow = async (
    folders: OpenFolder[],
    { workspaceFile = folders.length > 1, hasShellIntegration = true } = {},
  ) => {
    const rememberedBefore = [...globalState]
    const known = inBrowser ? new Map(secrets) : secrets
    const ownListeners = inBrowser ? new Set<Listener>() : secretListeners
    const storeSecrets = () => {
      if (!inBrowser) return
      secrets.clear()
      for (const [key, value] of known) secrets.set(key, value)
    }
    const listeners = new Map<string, Set<Listener>>()
    const on = (name: string) => (listener: Listener) => {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener))
      return { dispose: () => set.delete(listener) }
    }
    const emit = (name: string, event?: object) =>
      Promise.all([...(listeners.get(name) ?? [])].map((listener) => listener(event as never)))
    const commands = new Map<string, () => Promise<void>>()
    /** Values that `when` clauses of menus ask for. */
    const conditions = new Map<string, unknown>()
    const timers: (() => Promise<void>)[] = []
    const state = { focused: true, active: true }
    const item = { text: '', tooltip: '', command: undefined as string | undefined, show() {}, dispose() {} }
    const written: string[] = []
    const openDocuments: { uri: FakeUri; isDirty: boolean }[] = []

    interface FakeUri {
      fsPath: string
      path: string
      scheme: string
      with(change: { path: string }): FakeUri
      toString(): string
    }
    const uriOf = (fsPath: string): FakeUri => ({
      fsPath,
      path: fsPath,
      scheme: fsPath.match(/^([a-z-]+):/)?.[1] ?? 'file',
      with: ({ path }) => uriOf(path),
      toString: () => fsPath,
    })
    type Uri = ReturnType<typeof uriOf>
    const isWithin = (address: string, folder: string) => `${address}/`.startsWith(`${folder}/`)
    const repositories = folders
      .filter(({ address }) => uriOf(address).scheme === 'file')
      .flatMap(({ address, remote, within, ...folder }) =>
        within
          ? Object.entries(within).map(([name, other]) => ({
              root: join(address, name),
              remote: other,
              folder,
            }))
          : [{ root: address, remote, folder }],
      )
      .map(({ root, remote, folder }) => ({
        rootUri: uriOf(root),
        state: {
          // Sorted by name, as Git lists them.
          remotes: Object.entries({ origin: remote, ...folder.remotes })
            .map(([name, fetchUrl]) => ({ name, fetchUrl }))
            .sort((one, other) => (one.name < other.name ? -1 : 1)),
          onDidChange: on(`git ${root}`),
        },
        getObjectDetails: async (_: string, path: string) => {
          if (folder.git) await run('git', ['ls-files', '--error-unmatch', path], { cwd: root })
          else if (!folder.tracked) throw new Error('UnknownPath')
        },
        show: async (_: string, path: string) =>
          folder.git
            ? (await run('git', ['show', `:${relative(root, path)}`], { cwd: root })).stdout
            : (folder.inIndex ?? ''),
        folder,
      }))
    const openFolders = folders.map(({ address }) => ({ uri: uriOf(address) }))
    const fileOf = (address: string) => join(address, '.vscode/settings.json')
    const toBytes = (text: string | Uint8Array) =>
      typeof text === 'string' ? new TextEncoder().encode(text) : text
    const valuesIn = (text: string): Values => parse(text, [], { allowTrailingComma: true }) ?? {}
    for (const { address } of folders) {
      values.set(address, valuesIn(await readFile(fileOf(address), 'utf8').catch(() => '')))
      const watchers = watching.get(address) ?? new Set()
      watching.set(
        address,
        watchers.add((changed, inner) => {
          seen.events++
          // Without a scope, a setting of a block counts, too.
          const isAffected = (name: string, scope?: { languageId?: string }) =>
            changed.some(
              (key) =>
                key === name ||
                key.startsWith(`${name}.`) ||
                (scope === undefined && inner.includes(name)) ||
                (scope?.languageId !== undefined && languagesOf(key).includes(scope.languageId)),
            )
          // As in an editor, an extension that writes doesn't wait for those that listen.
          void emit('configuration', { affectsConfiguration: isAffected })
        }),
      )
    }
    const valuesAt = (address: string) => values.get(address) ?? {}
    /** Writes or removes the file. Each window then reads it and fires one event. */
    const changeFile = async (address: string, text: string | Uint8Array | undefined) => {
      await mkdir(dirname(fileOf(address)), { recursive: true })
      if (text === undefined) await rm(fileOf(address))
      else await writeFile(fileOf(address), text)
      return tellOf(address, new TextDecoder().decode(toBytes(text ?? '')))
    }
    const tellOf = (address: string, text: string) => {
      const [before, after] = [valuesAt(address), valuesIn(text)]
      values.set(address, after)
      const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
        (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
      )
      const isBlock = (key: string) => key.startsWith('[')
      const inner = changed
        .filter(isBlock)
        .flatMap((key) => [before[key], after[key]].flatMap((block) => Object.keys(block ?? {})))
      if (changed.length > 0) for (const tell of watching.get(address) ?? []) tell(changed, inner)
      return changed
    }
    const changeSetting = (address: string, key: string, value: unknown) =>
      changeFile(address, `${JSON.stringify({ ...valuesAt(address), [key]: value })}\n`)
    const notifications = new Map<string, () => void>()
    const say =
      (isModal: boolean) =>
      async (message: string, ...more: (string | { detail?: string; modal?: boolean })[]) => {
        seen.messages.push(message)
        // A dialog shows its text as it is.
        const isNotification = !more.some((one) => typeof one === 'object' && one.modal)
        if (isNotification) seen.links.push(...(message.match(LINKS) ?? []))
        const buttons = more.filter((one) => typeof one === 'string')
        const options = more.find((one) => typeof one === 'object')
        if (options?.detail !== undefined) seen.details.push(options.detail)
        // The same notification replaces an earlier one.
        notifications.get(message)?.()
        notifications.delete(message)
        const pressed = buttons.find((button) => person.presses.includes(button))
        // A notification hides after a while, and stays in the list of notifications until the person does something with it.
        if (pressed === undefined && buttons.length > 0 && !options?.modal && !isModal)
          return new Promise<undefined>((close) => notifications.set(message, () => close(undefined)))
        return pressed
      }
    const vscode = {
      Uri: {
        parse: uriOf,
        file: uriOf,
        joinPath: ({ fsPath }: { fsPath: string }, ...parts: string[]) => uriOf(join(fsPath, ...parts)),
      },
      StatusBarAlignment: { Right: 2 },
      ProgressLocation: { Window: 10 },
      FileType: { SymbolicLink: 64 },
      TextDocumentSaveReason: { Manual: 1, AfterDelay: 2 },
      authentication: {
        async getSession(_provider: string, scopes: string[], { createIfNone = false }) {
          if (createIfNone) seen.asked++
          seen.scopes.push(scopes)
          return person.github === undefined ? undefined : { accessToken: person.github }
        },
      },
      commands: {
        registerCommand(name: string, work: () => Promise<void>) {
          commands.set(name, work)
          return { dispose: () => {} }
        },
        async executeCommand(name: string, key: string, value: unknown) {
          if (name === 'setContext') conditions.set(key, value)
        },
      },
      env: { openExternal: async (uri: Uri) => seen.opened.push(`${uri}`) > 0 },
      debug: { onDidStartDebugSession: on('debug'), onDidChangeActiveStackItem: on('step') },
      extensions: {
        all: installed,
        getExtension: () => ({
          activate: async () => ({
            enabled: true,
            getAPI: () => ({
              state: 'initialized',
              repositories,
              getRepository: ({ fsPath }: Uri) =>
                repositories.find(({ rootUri }) => isWithin(fsPath, rootUri.fsPath)) ?? null,
              onDidChangeState: on('git'),
              onDidOpenRepository: on('repository opens'),
              onDidCloseRepository: on('repository closes'),
            }),
          }),
        }),
      },
      window: {
        state,
        createStatusBarItem: () => item,
        createOutputChannel: () => ({ warn() {}, dispose() {} }),
        withProgress: (_: object, work: () => Promise<void>) => work(),
        showInputBox: async () => person.types,
        showQuickPick: async (items: typeof seen.listed, { canPickMany = false } = {}) => {
          seen.listed = items
          // The person ticks what they want besides, and agrees.
          if (canPickMany)
            return person.cancels
              ? undefined
              : items.filter(({ label, picked }) => picked || person.ticks.includes(label))
          return items.find(({ label }) => label === person.picks)
        },
        showErrorMessage: say(false),
        showInformationMessage: say(false),
        showWarningMessage: say(false),
        onDidChangeTextEditorSelection: on('selection'),
        onDidChangeActiveTextEditor: on('editor'),
        onDidChangeActiveTerminal: on('terminal'),
        onDidChangeTerminalState: on('terminal state'),
        // From version 1.93 on.
        ...(hasShellIntegration && { onDidStartTerminalShellExecution: on('shell') }),
        onDidChangeWindowState: on('window'),
      },
      workspace: {
        workspaceFile: workspaceFile ? uriOf('/team.code-workspace') : undefined,
        workspaceFolders: openFolders,
        getWorkspaceFolder: ({ fsPath }: Uri) => openFolders.find(({ uri }) => isWithin(fsPath, uri.fsPath)),
        getConfiguration: (section?: string, uri?: Uri) => ({
          get: (name: string) => {
            const key = section === undefined ? name : `${section}.${name}`
            return user[key] ?? registered[key]?.default
          },
          inspect: (key: string) => {
            const { default: defaultValue, scope = 'window' } = registered[key] ?? {}
            const ofFolder = valuesAt(uri?.fsPath ?? '')[key]
            // Settings of the window itself can't come from one of its folders. A folder that is alone gives its values twice.
            const own = workspaceFile
              ? { workspaceFolderValue: /^(window|application|machine)$/.test(scope) ? undefined : ofFolder }
              : { workspaceValue: ofFolder, workspaceFolderValue: ofFolder }
            return { defaultValue, globalValue: user[key], ...own }
          },
        }),
        textDocuments: openDocuments,
        fs: {
          stat: ({ fsPath }: Uri) => stat(fsPath),
          readFile: ({ fsPath }: Uri) => readFile(fsPath),
          async writeFile({ fsPath }: Uri, content: Uint8Array) {
            const address = dirname(dirname(fsPath))
            if (fsPath !== fileOf(address)) {
              await mkdir(dirname(fsPath), { recursive: true })
              return writeFile(fsPath, content)
            }
            seen.writes++
            const changed = await changeFile(address, content)
            written.push(...changed)
          },
          readDirectory: async ({ fsPath }: Uri) => (await readdir(fsPath)).map((name) => [name, 1]),
          rename: (from: Uri, to: Uri) => rename(from.fsPath, to.fsPath),
          async delete({ fsPath }: Uri) {
            const address = dirname(dirname(fsPath))
            if (fsPath !== fileOf(address))
              return (await stat(fsPath)).isDirectory() ? rmdir(fsPath) : rm(fsPath)
            seen.writes++
            const changed = await changeFile(address, undefined)
            written.push(...changed)
          },
        },
        onDidChangeWorkspaceFolders: on('git'),
        onWillSaveTextDocument: on('save'),
        onDidSaveTextDocument: on('saved'),
        onDidChangeConfiguration: on('configuration'),
      },
    }
    const context = {
      extension: { id, packageJSON },
      globalStorageUri: uriOf(join(folder, 'storage')),
      globalState: {
        get: (key: string, other?: unknown) => globalState.get(key) ?? other,
        keys: () => [...globalState.keys()],
        update: async (key: string, value: unknown) => {
          value === undefined
            ? globalState.delete(key)
            : globalState.set(key, JSON.parse(JSON.stringify(value)))
        },
      },
      secrets: {
        get: async (key: string) => known.get(key),
        store: async (key: string, value: string) => {
          known.set(key, value)
          storeSecrets()
          for (const listener of ownListeners) void listener({ key } as never)
        },
        delete: async (key: string) => {
          const had = known.delete(key)
          storeSecrets()
          if (had) for (const listener of ownListeners) void listener({ key } as never)
        },
        onDidChange: (listener: Listener) => {
          ownListeners.add(listener)
          return { dispose: () => ownListeners.delete(listener) }
        },
      },
      subscriptions: [] as { dispose(): void }[],
    }
    const watchedFetch: typeof fetch = async (input, init) => {
      const { pathname, search } = new URL(String(input))
      requests.push({ method: init?.method ?? 'GET', path: pathname, query: search, body: `${init?.body}` })
      if (network.heldAt === pathname) {
        const response = await fetch(input, init)
        await new Promise<void>((release) => network.held.push(release))
        return response
      }
      if (!network.silent && network.silentAt !== pathname) return fetch(input, init)
      return new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
    }
    const require = createRequire(import.meta.url)
    const loaded = { exports: {} as Loaded }
    new Function('require', 'module', 'setInterval', 'clearInterval', 'fetch', 'Date', text)(
      (name: string) => (name === 'vscode' ? vscode : require(name)),
      loaded,
      (work: () => Promise<void>) => timers.push(work),
      () => {},
      watchedFetch,
      EditorDate,
    )
    loaded.exports.activate(context)
    const [first = { address: '' }] = folders
    const document = (file: string) => ({ uri: uriOf(file) })
    const terminal = { state: { isInteractedWith: false, shell: undefined as string | undefined } }
    return {
      item,
      state,
      written,
      emit,
      /** Presses a button of the command palette. */
      run: async (name: string) => {
        seen.messages = []
        seen.details = []
        await commands.get(`teamSettings.${name}`)?.()
        return seen.messages
      },
      commands,
      /** The person types: the keyboard moves the cursor. */
      type: (file = join(first.address, 'index.ts')) =>
        emit('selection', { kind: 1, textEditor: { document: document(file) } }),
      document,
      /** The person types in a terminal. The editor reports it only the first time. */
      async typeInTerminal() {
        if (terminal.state.isInteractedWith) return
        terminal.state.isInteractedWith = true
        await emit('terminal state', terminal)
      },
      /** The editor recognizes the shell of a terminal, which takes no person. */
      async recognizeShell() {
        terminal.state.shell = 'bash'
        await emit('terminal state', terminal)
      },
      /** Whether a command is in the command palette. */
      isInPalette(name: string) {
        const entry = palette.find(({ command }) => command === `teamSettings.${name}`)
        const [, not = '', key = ''] = entry?.when.match(/^(!?)(.+)$/) ?? []
        return entry === undefined || Boolean(conditions.get(key)) === (not === '')
      },
      /** How many listeners are left, by event. */
      listeners: () => [...listeners].filter(([, { size }]) => size > 0).map(([name]) => name),
      minutePasses: () => {
        clock.ahead += 60_000
        return timers[0]?.()
      },
      /** The person edits a setting of a folder. */
      edit: (key: string, value: unknown, address = first.address) => changeSetting(address, key, value),
      /** Someone or something else replaces the file: a person, or Git. */
      replaceFile: changeFile,
      /** The editor notices that a program has changed the file. */
      noticeFile: async (address = first.address) =>
        tellOf(address, await readFile(fileOf(address), 'utf8').catch(() => '')),
      openDocuments,
      values: (address = first.address) => ({ ...valuesAt(address) }),
      /** The window closes: its extension host ends. */
      close: async () => {
        await loaded.exports.deactivate()
        for (const { dispose } of context.subscriptions) dispose()
      },
      /** The tab of an editor in a browser closes: what the editor was to remember since it was opened isn't stored yet. */
      closeTab: () => {
        globalState.clear()
        for (const [key, value] of rememberedBefore) globalState.set(key, value)
      },
      repositories,
      conditions,
      on,
    }
  }
  return { openWindow, person, seen, secrets, globalState, user, requests, network, clock, packageJSON }
}
