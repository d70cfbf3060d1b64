/** As much of an editor as the example needs. The test plays its user. */
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Editors create the folders of a file. */
const write = async (file: string, content: string | Uint8Array) => {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, content)
}

interface ConfigurationEvent {
  affectsConfiguration(name: string): boolean
}

/** A folder: its path, or its address at the host (`vscode-vfs://…`), and the remote of the repository in it. */
export interface OpenFolder {
  address: string
  remote: string
}

/** The declarations of package.json. */
export interface Manifest {
  contributes: {
    configuration: { properties: Record<string, { default?: unknown; scope?: string }> }
    commands: { command: string }[]
  }
}

/** The user's view and actions. */
export const startEditor = async ({
  code,
  packageJSON,
  configuration: chosen,
  folder,
  folders,
}: {
  /** The bundle of the extension. */
  code: string
  packageJSON: Manifest
  /** The user's own settings, by their whole names. */
  configuration: Record<string, unknown>
  /** Where the extension keeps files. */
  folder: string
  folders: OpenFolder[]
}) => {
  const commands = new Map<string, () => Promise<void>>()
  const secrets = new Map<string, string>()
  const globalState = new Map<string, unknown>()
  const workspaceState = new Map<string, unknown>()
  const listeners: ((event: object) => void)[] = []
  const configurationListeners: ((event: ConfigurationEvent) => Promise<void>)[] = []
  /** The events of Git. */
  const gitListeners: (() => unknown)[] = []
  const onGit = (listener: () => unknown) => {
    gitListeners.push(listener)
    return { dispose: () => {} }
  }
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
    /** The entry of a list that is chosen. */
    picks: undefined as string | undefined,
    /** The `.code-workspace` that is open. */
    workspaceFile: undefined as string | undefined,
  }
  const { properties } = packageJSON.contributes.configuration
  const defaults = Object.entries(properties).map(([key, property]) => [key, property.default])
  const configuration: Record<string, unknown> = { ...Object.fromEntries(defaults), ...chosen }
  /** The settings of a window with one folder. */
  const workspaceValues: Record<string, unknown> = {}
  /** The settings of each folder of a window with several, by address. */
  const folderValues: Record<string, Record<string, unknown>> = {}
  const isOne = folders.length === 1
  const valuesAt = (address = ''): Record<string, unknown> => {
    if (isOne) return workspaceValues
    if (address === '') return {}
    folderValues[address] ??= {}
    return folderValues[address]
  }

  const listen = (listener: (event: object) => void) => {
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
  const openFolders = folders.map(({ address }) => ({ uri: uriOf(address) }))
  const isRemote = (address: string) => uriOf(address).scheme !== 'file'
  const isWithin = (address: string, folder: string) => `${address}/`.startsWith(`${folder}/`)
  const repositories = folders
    .filter(({ address }) => !isRemote(address))
    .map(({ address, remote }) => ({
      rootUri: uriOf(address),
      state: { remotes: [{ name: 'origin', fetchUrl: remote }], onDidChange: onGit },
    }))
  const vscode = {
    Uri: { joinPath: ({ fsPath }: { fsPath: string }, ...parts: string[]) => uriOf(join(fsPath, ...parts)) },
    ConfigurationTarget: { Workspace: 2, WorkspaceFolder: 3 },
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
            getRepository: ({ fsPath }: { fsPath: string }) =>
              repositories.find(({ rootUri }) => isWithin(fsPath, rootUri.fsPath)) ?? null,
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
      showQuickPick: async (items: { label: string }[]) => items.find(({ label }) => label === person.picks),
      showErrorMessage: say,
      showInformationMessage: say,
      showWarningMessage: say,
      onDidChangeTextEditorSelection: listen,
      onDidChangeWindowState: listen,
    },
    workspace: {
      getConfiguration: (_section?: undefined, uri?: { fsPath: string }) => ({
        get: (key: string) => valuesAt(uri?.fsPath)[key] ?? configuration[key],
        inspect: (key: string) => ({
          [isOne ? 'workspaceValue' : 'workspaceFolderValue']: valuesAt(uri?.fsPath)[key],
        }),
        async update(key: string, value: unknown, target: number) {
          if (!(key in configuration)) throw new Error(`${key} is not a registered configuration`)
          if (target !== (isOne ? 2 : 3)) throw new Error(`${key} would be set for all folders`)
          if (!isOne && properties[key]?.scope !== 'resource')
            throw new Error(`${key} cannot be set for a folder`)
          const address = uri?.fsPath ?? ''
          const values = valuesAt(address)
          values[key] = value
          if (!isRemote(address)) await write(join(address, '.vscode/settings.json'), JSON.stringify(values))
        },
      }),
      get workspaceFile() {
        return person.workspaceFile
      },
      workspaceFolders: openFolders,
      getWorkspaceFolder: ({ fsPath }: { fsPath: string }) =>
        openFolders.find(({ uri }) => isWithin(fsPath, uri.fsPath)),
      onDidChangeWorkspaceFolders: onGit,
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
    folderValues,
    configuration,
    /** The user types in a file. */
    type: (file = join(folders[0]?.address ?? '', 'index.ts')) => {
      const document = { uri: uriOf(file) }
      for (const listener of listeners) listener({ document, textEditor: { document } })
    },
    minutePasses: () => timers[0]?.(),
    /** The user changes a setting of this workspace. */
    edit: async (key: string, value: unknown, address?: string) => {
      valuesAt(address)[key] = value
      seen.messages = []
      await change(key)
      return seen.messages
    },
    /** The user changes one of their own settings. */
    configure: async (key: string, value: unknown) => {
      configuration[key] = value
      await change(key)
    },
    closeRepositories: () => repositories.splice(0),
    /** Git's scan finds a repository, and only then its remotes. */
    findRepository: async ({ address, remote }: OpenFolder) => {
      const remotes: { name: string; fetchUrl: string }[] = []
      repositories.push({ rootUri: uriOf(address), state: { remotes, onDidChange: onGit } })
      await tellGit()
      remotes.push({ name: 'origin', fetchUrl: remote })
      await tellGit()
    },
  }
}
