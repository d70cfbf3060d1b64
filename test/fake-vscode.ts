/** As much of an editor as the extension needs: settings, folders, Git, and a person who types and presses buttons. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { projectRoot } from '../src/platform/process/root.js'
import { bundle } from './bundle.js'

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
  /** Whether Git tracks its .vscode/settings.json. */
  tracked?: boolean
}

/** Settings of the editor itself, and of one extension. `machine` settings can't be set for a folder. */
const REGISTERED: Properties = {
  'editor.tabSize': { default: 4, scope: 'resource' },
  'editor.rulers': { default: [], scope: 'resource' },
  'editor.insertSpaces': { default: true, scope: 'resource' },
  'files.eol': { default: 'auto', scope: 'resource' },
  'window.zoomLevel': { default: 0, scope: 'application' },
  'ext.theme': { default: 'light', scope: 'resource' },
  'ext.path': { default: '', scope: 'resource' },
}

let code: Promise<string> | undefined
const bundled = () => {
  code ??= bundle('extension/src/extension.ts', {
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
  })
  return code
}

/** An installation of the editor, with the extension, one person and any number of windows. */
export const installEditor = async ({ folder, url }: { folder: string; url: string }) => {
  const packageJSON = JSON.parse(await readFile(join(projectRoot, 'extension/package.json'), 'utf8'))
  const text = await bundled()
  const registered: Properties = { ...REGISTERED, ...packageJSON.contributes.configuration.properties }
  const user: Values = { 'teamSettings.url': url }
  const secrets = new Map<string, string>()
  const globalState = new Map<string, unknown>()
  const secretListeners = new Set<Listener>()
  const requests: { method: string; path: string }[] = []
  const person = {
    /** The token of the editor's GitHub account, once the person agrees to use it. */
    github: undefined as string | undefined,
    /** The text typed into a box, and the entry of a list that is chosen. */
    types: undefined as string | undefined,
    picks: undefined as string | undefined,
    /** The buttons that the person presses wherever they appear. */
    presses: [] as string[],
  }
  const seen = {
    messages: [] as string[],
    details: [] as string[],
    listed: [] as { label: string; description?: string; detail?: string }[],
    scopes: [] as string[][],
    /** How often the person was asked for an account. */
    asked: 0,
  }
  /** The settings of each folder, as its file has them. */
  const values = new Map<string, Values>()
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
  const network = { silent: false }

  const openWindow = async (folders: OpenFolder[], { workspaceFile = folders.length > 1 } = {}) => {
    const listeners = new Map<string, Set<Listener>>()
    const on = (name: string) => (listener: Listener) => {
      const set = listeners.get(name) ?? new Set()
      listeners.set(name, set.add(listener))
      return { dispose: () => set.delete(listener) }
    }
    const emit = (name: string, event?: object) =>
      Promise.all([...(listeners.get(name) ?? [])].map((listener) => listener(event as never)))
    const commands = new Map<string, () => Promise<void>>()
    const timers: (() => Promise<void>)[] = []
    const state = { focused: true, active: true }
    const item = { text: '', tooltip: '', command: undefined as string | undefined, show() {}, dispose() {} }
    const written: string[] = []

    const uriOf = (fsPath: string) => ({
      fsPath,
      path: fsPath,
      scheme: fsPath.match(/^([a-z-]+):/)?.[1] ?? 'file',
      toString: () => fsPath,
    })
    type Uri = ReturnType<typeof uriOf>
    const isWithin = (address: string, folder: string) => `${address}/`.startsWith(`${folder}/`)
    const repositories = folders
      .filter(({ address }) => uriOf(address).scheme === 'file')
      .map(({ address, remote, tracked = false }) => ({
        rootUri: uriOf(address),
        state: { remotes: [{ name: 'origin', fetchUrl: remote }], onDidChange: on('git') },
        getObjectDetails: async () => {
          if (!tracked) throw new Error('UnknownPath')
        },
      }))
    const openFolders = folders.map(({ address }) => ({ uri: uriOf(address) }))
    const fileOf = (address: string) => join(address, '.vscode/settings.json')
    for (const { address } of folders)
      if (!values.has(address))
        values.set(address, JSON.parse(await readFile(fileOf(address), 'utf8').catch(() => '{}')))
    const valuesAt = (address: string) => values.get(address) ?? {}
    const changeSetting = async (address: string, key: string, value: unknown) => {
      const all = valuesAt(address)
      if (value === undefined) delete all[key]
      else all[key] = value
      await mkdir(dirname(fileOf(address)), { recursive: true })
      await writeFile(fileOf(address), `${JSON.stringify(all)}\n`)
      // As in an editor, an extension that writes doesn't wait for those that listen.
      void emit('configuration', { affectsConfiguration: (name: string) => name === key })
    }
    const say =
      (isModal: boolean) =>
      async (message: string, ...more: (string | { detail?: string; modal?: boolean })[]) => {
        seen.messages.push(message)
        const buttons = more.filter((one) => typeof one === 'string')
        const options = more.find((one) => typeof one === 'object')
        if (options?.detail !== undefined) seen.details.push(options.detail)
        const pressed = buttons.find((button) => person.presses.includes(button))
        // A notification stays until the person does something with it.
        if (pressed === undefined && buttons.length > 0 && !options?.modal && !isModal)
          return new Promise<undefined>(() => {})
        return pressed
      }
    const vscode = {
      Uri: {
        joinPath: ({ fsPath }: { fsPath: string }, ...parts: string[]) => uriOf(join(fsPath, ...parts)),
      },
      ConfigurationTarget: { Workspace: 2, WorkspaceFolder: 3 },
      StatusBarAlignment: { Right: 2 },
      ProgressLocation: { Window: 10 },
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
        executeCommand: async () => {},
      },
      debug: { onDidStartDebugSession: on('debug'), onDidChangeActiveStackItem: on('step') },
      extensions: {
        getExtension: () => ({
          activate: async () => ({
            enabled: true,
            getAPI: () => ({
              repositories,
              getRepository: ({ fsPath }: Uri) =>
                repositories.find(({ rootUri }) => isWithin(fsPath, rootUri.fsPath)) ?? null,
              onDidChangeState: on('git'),
              onDidOpenRepository: on('repository'),
              onDidCloseRepository: on('git'),
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
        showQuickPick: async (items: typeof seen.listed) => {
          seen.listed = items
          return items.find(({ label }) => label === person.picks)
        },
        showErrorMessage: say(false),
        showInformationMessage: say(false),
        showWarningMessage: say(false),
        onDidChangeTextEditorSelection: on('selection'),
        onDidChangeActiveTextEditor: on('editor'),
        onDidChangeActiveTerminal: on('terminal'),
        onDidChangeTerminalState: on('terminal'),
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
          inspect: (key: string) => ({
            defaultValue: registered[key]?.default,
            globalValue: user[key],
            [workspaceFile ? 'workspaceFolderValue' : 'workspaceValue']: valuesAt(uri?.fsPath ?? '')[key],
          }),
          async update(key: string, value: unknown, target: number) {
            const { scope } = registered[key] ?? {}
            if (scope === undefined && value !== undefined)
              throw new Error(`${key} is not a registered configuration.`)
            if (scope !== undefined && scope !== 'resource')
              throw new Error(`${key} is not a folder setting.`)
            if (target !== (workspaceFile ? 3 : 2)) throw new Error(`${key} would be set for all folders.`)
            await changeSetting(uri?.fsPath ?? '', key, value)
            written.push(key)
          },
        }),
        fs: {
          stat: ({ fsPath }: Uri) => stat(fsPath),
          readFile: ({ fsPath }: Uri) => readFile(fsPath),
          writeFile: ({ fsPath }: Uri, content: Uint8Array) => writeFile(fsPath, content),
        },
        onDidChangeWorkspaceFolders: on('git'),
        onWillSaveTextDocument: on('save'),
        onDidChangeConfiguration: on('configuration'),
      },
    }
    const context = {
      extension: { packageJSON },
      globalStorageUri: uriOf(join(folder, 'storage')),
      globalState: {
        get: (key: string, other?: unknown) => globalState.get(key) ?? other,
        update: async (key: string, value: unknown) => {
          value === undefined
            ? globalState.delete(key)
            : globalState.set(key, JSON.parse(JSON.stringify(value)))
        },
      },
      secrets: {
        get: async (key: string) => secrets.get(key),
        store: async (key: string, value: string) => {
          secrets.set(key, value)
          for (const listener of secretListeners) void listener({ key } as never)
        },
        delete: async (key: string) => {
          if (secrets.delete(key)) for (const listener of secretListeners) void listener({ key } as never)
        },
        onDidChange: (listener: Listener) => {
          secretListeners.add(listener)
          return { dispose: () => secretListeners.delete(listener) }
        },
      },
      subscriptions: [] as { dispose(): void }[],
    }
    const watchedFetch: typeof fetch = (input, init) => {
      requests.push({ method: init?.method ?? 'GET', path: new URL(String(input)).pathname })
      if (!network.silent) return fetch(input, init)
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
      minutePasses: () => {
        clock.ahead += 60_000
        return timers[0]?.()
      },
      /** The person edits a setting of a folder. */
      edit: (key: string, value: unknown, address = first.address) => changeSetting(address, key, value),
      values: (address = first.address) => ({ ...valuesAt(address) }),
      /** The window closes: its extension host ends. */
      close: async () => {
        await loaded.exports.deactivate()
        for (const { dispose } of context.subscriptions) dispose()
      },
      repositories,
    }
  }
  return { openWindow, person, seen, secrets, user, requests, network, clock }
}
