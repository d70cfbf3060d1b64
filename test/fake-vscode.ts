/** As much of an editor as the example needs. The test plays its user. */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { bundle } from './bundle.js'

const client = `${process.cwd()}/client/src`

/** Editors create the folders of a file. */
const write = async (file: string, content: string | Uint8Array) => {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

interface ConfigurationEvent {
  affectsConfiguration(name: string): boolean
}

/** The user's view and actions. */
export const startEditor = async ({
  cloudUrl,
  folder,
  remote,
  opened,
}: {
  cloudUrl: string
  /** Where the extension keeps files. */
  folder: string
  remote: string
  /** The open folder, with the settings of the workspace in it, or its address at the host (`vscode-vfs://…`). */
  opened?: string
}) => {
  const code = await bundle('examples/vscode/src/extension.ts', {
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    alias: {
      '@team-settings/client/node': `${client}/node.ts`,
      '@team-settings/client': `${client}/index.ts`,
    },
  })
  const commands = new Map<string, () => Promise<void>>()
  const secrets = new Map<string, string>()
  const globalState = new Map<string, unknown>()
  const workspaceState = new Map<string, unknown>()
  const listeners: (() => void)[] = []
  const configurationListeners: ((event: ConfigurationEvent) => Promise<void>)[] = []
  const repositories: object[] = []
  /** The events of Git. */
  const gitListeners: (() => unknown)[] = []
  const onGit = (listener: () => unknown) => {
    gitListeners.push(listener)
    return { dispose: () => {} }
  }
  const remotes: object[] = []
  const timers: (() => void)[] = []
  const seen = {
    messages: [] as string[],
    details: [] as string[],
    asked: 0,
    /** The requests to the accounts of the editor. */
    scopes: [] as string[][],
    /** The origins that something was sent to. */
    origins: new Set<string>(),
    text: '',
    tooltip: '',
    /** The command behind the status bar. */
    command: undefined as string | undefined,
  }
  const person = {
    /** The token of the editor's GitHub account, once the user agrees to use it. */
    github: undefined as string | undefined,
    agrees: true,
    focused: true,
    /** Whether the window is still there; its extension host gets no answer from a window that is gone. */
    connected: true,
    /** The text typed into a box, and the pressed button. */
    types: undefined as string | undefined,
    presses: undefined as string | undefined,
    /** The `.code-workspace` that is open. */
    workspaceFile: undefined as string | undefined,
  }
  const configuration: Record<string, unknown> = {
    'ext.cloudUrl': cloudUrl,
    'ext.pushPrivateRepositories': false,
    'ext.theme': 'light',
    'ext.fontSize': 12,
  }
  const workspaceValues: Record<string, unknown> = {}

  const listen = (listener: () => void) => {
    listeners.push(listener)
    return { dispose: () => {} }
  }
  const say = async (message: string, ...more: unknown[]) => {
    seen.messages.push(message)
    const [options] = more as [{ detail?: string } | undefined]
    if (options?.detail !== undefined) seen.details.push(options.detail)
    return person.presses
  }
  const memento = (values: Map<string, unknown>) => ({
    get: (key: string, other?: unknown) => values.get(key) ?? other,
    update: async (key: string, value: unknown) => {
      if (!person.connected) await new Promise(() => {})
      values.set(key, value)
    },
  })
  const item = {
    set text(text: string) {
      seen.text = text
    },
    set tooltip(tooltip: string) {
      seen.tooltip = tooltip
    },
    set command(command: string | undefined) {
      seen.command = command
    },
    show() {},
    dispose() {},
  }
  const uriOf = (fsPath: string) => ({
    fsPath,
    scheme: fsPath.match(/^(.+):\/\//)?.[1] ?? 'file',
    toString: () => fsPath,
  })
  const isRemote = opened !== undefined && uriOf(opened).scheme !== 'file'
  const vscode = {
    Uri: { joinPath: ({ fsPath }: { fsPath: string }, ...parts: string[]) => uriOf(join(fsPath, ...parts)) },
    ConfigurationTarget: { Workspace: 2 },
    StatusBarAlignment: { Right: 2 },
    authentication: {
      async getSession(_provider: string, scopes: string[], { createIfNone = false }) {
        if (createIfNone) seen.asked++
        seen.scopes.push(scopes)
        return person.github !== undefined && person.agrees ? { accessToken: person.github } : undefined
      },
    },
    commands: {
      registerCommand(name: string, work: () => Promise<void>) {
        commands.set(name, work)
        return { dispose: () => {} }
      },
    },
    extensions: {
      getExtension: () => ({
        activate: async () => ({
          enabled: true,
          getAPI: () => ({
            repositories,
            onDidChangeState: onGit,
            onDidOpenRepository: (listener: (repository: object | undefined) => unknown) =>
              onGit(() => listener(repositories[0])),
            onDidCloseRepository: onGit,
          }),
        }),
      }),
    },
    window: {
      get state() {
        return { focused: person.focused }
      },
      createStatusBarItem: () => item,
      createOutputChannel: () => ({ warn() {}, dispose() {} }),
      showInputBox: async () => person.types,
      showErrorMessage: say,
      showInformationMessage: say,
      showWarningMessage: say,
      onDidChangeTextEditorSelection: listen,
      onDidChangeWindowState: listen,
    },
    workspace: {
      getConfiguration: (section?: string) => ({
        get: (key: string, other?: unknown) => {
          const name = section === undefined ? key : `${section}.${key}`
          return workspaceValues[name] ?? configuration[name] ?? other
        },
        inspect: (key: string) => ({ workspaceValue: workspaceValues[key] }),
        async update(key: string, value: unknown) {
          if (!(key in configuration)) throw new Error(`${key} is not a registered configuration`)
          workspaceValues[key] = value
          if (opened && !isRemote)
            await write(join(opened, '.vscode/settings.json'), JSON.stringify(workspaceValues))
        },
      }),
      get workspaceFile() {
        return person.workspaceFile
      },
      workspaceFolders: opened === undefined ? undefined : [{ uri: uriOf(opened) }],
      fs: {
        stat: ({ fsPath }: { fsPath: string }) =>
          stat(fsPath).catch(({ code }) => {
            throw Object.assign(new Error(), { code: code === 'ENOENT' ? 'FileNotFound' : 'Unknown' })
          }),
        writeFile: ({ fsPath }: { fsPath: string }, content: Uint8Array) => write(fsPath, content),
      },
      onDidChangeTextDocument: listen,
      onDidChangeConfiguration: (listener: (event: ConfigurationEvent) => Promise<void>) => {
        configurationListeners.push(listener)
        return { dispose: () => {} }
      },
    },
  }
  const require = createRequire(import.meta.url)
  const packageJSON = require(`${process.cwd()}/examples/vscode/package.json`)
  const context = {
    extension: { packageJSON },
    globalStorageUri: uriOf(folder),
    globalState: memento(globalState),
    workspaceState: memento(workspaceState),
    secrets: {
      get: async (key: string) => secrets.get(key),
      store: async (key: string, value: string) => void secrets.set(key, value),
      delete: async (key: string) => void secrets.delete(key),
    },
    subscriptions: [] as { dispose(): void }[],
  }

  const tellGit = () => Promise.all([...gitListeners].map((listener) => listener()))
  const change = (key: string) =>
    Promise.all(
      configurationListeners.map((listener) => listener({ affectsConfiguration: (name) => name === key })),
    )
  remotes.push({ name: 'origin', fetchUrl: remote })
  repositories.push({ state: { remotes, onDidChange: onGit } })

  /** A new window of it. */
  const open = async () => {
    timers.length = 0
    listeners.length = 0
    configurationListeners.length = 0
    gitListeners.length = 0
    const loaded = {
      exports: {} as { activate(context: unknown): Promise<void>; deactivate(): Promise<void> },
    }
    const repeat = (work: () => void) => timers.push(work)
    const watchedFetch: typeof fetch = (input, init) => {
      seen.origins.add(new URL(String(input)).origin)
      return fetch(input, init)
    }
    new Function('require', 'module', 'setInterval', 'clearInterval', 'fetch', code)(
      (name: string) => (name === 'vscode' ? vscode : require(name)),
      loaded,
      repeat,
      () => {},
      watchedFetch,
    )
    await loaded.exports.activate(context)
    return loaded.exports
  }
  const run = async (name: string) => {
    seen.messages = []
    await commands.get(name)?.()
    return seen.messages
  }
  return {
    open,
    run,
    /** The person clicks on the status bar. */
    click: () => run(seen.command ?? ''),
    person,
    seen,
    secrets,
    packageJSON,
    commands,
    workspaceValues,
    configuration,
    /** The user types. */
    type: () => listeners.forEach((listener) => void listener()),
    minutePasses: () => timers[0]?.(),
    /** The user changes a setting of this workspace. */
    edit: async (key: string, value: unknown) => {
      workspaceValues[key] = value
      seen.messages = []
      await change(key)
      return seen.messages
    },
    /** The user changes one of their own settings. */
    configure: async (key: string, value: unknown) => {
      configuration[key] = value
      await change(key)
    },
    closeRepository: () => repositories.splice(0),
    /** Git's scan finds the repository, and only then its remotes. */
    findRepository: async () => {
      remotes.length = 0
      repositories.push({ state: { remotes, onDidChange: onGit } })
      await tellGit()
      remotes.push({ name: 'origin', fetchUrl: remote })
      await tellGit()
    },
  }
}
