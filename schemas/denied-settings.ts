/** Settings that no one may store for others, except under the first prefix: `SETTINGS_DENIED`. */

/**
 * Settings that make an editor run a program, or send its traffic elsewhere. `*` stands for any text, and case doesn't
 * matter. They follow from the settings of published extensions, which `test/editor-settings.csv` lists. Other extensions have
 * other names, so the list can't be complete: the editor decides what it applies.
 */
export const DENIED_KEYS = [
  // Settings of the editor itself.
  ...['terminal.*', 'http.*', 'remote.*', 'security.*', 'settingsSync.*', 'extensions.*', 'update.*'],
  ...['task.*', 'launch', 'launch.*', 'chat.*', 'mcp.*', 'dev.containers.*', 'github-enterprise.*'],
  ...['debug.javascript.*options', '*externalbrowser', '*.tsdk', 'typescript.npm'],
  ...['grunt.autodetect', 'gulp.autodetect', 'jake.autodetect', 'vscode_custom_css.*', 'apc.imports'],
  // A program, or the folder that it's in.
  ...['*path', '*.path.*', 'vscode-kubernetes.*-path*', '*path.linux', '*path.osx', '*path.mac'],
  ...['*path.windows', '*pathwindows', '*pathwin', '*exepaths', '*sdkpaths', '*clipaths', '*searchdirs'],
  ...['*executable', '*command', '*commands', 'docker.commands.*', 'containers.commands.*'],
  ...['docker.*command.*', '*commandline', '*cmd', '*cmdline', '*.bin', '*lspbin', '*binary', '*.shell'],
  ...['*defaultshell', '*.runtime', '*runtimes', '*noderuntime', '*interpreter', '*executormap*'],
  ...['*launcher', '*.ripgrep', '*difftool', '*home', '*goroot', '*dotnetroot', '*sysroot', 'swift.*sdk'],
  ...['plantuml.java', 'julia.editor', '*latexengine', '*customemulators', 'dart.customdevtools'],
  ...['*compilernames', '*venvfolders', '*versionmanager', '*pathtobundler', 'go.toolsmanagement.go'],
  ...['lldb.cargo', '*cubeprogrammer', '*cubeprogrammer.*', '*toolchainprefix', 'r.rterm.*', 'r.rpath.*'],
  // Tools, tasks, scripts and servers that name programs.
  ...['*alternatetools', '*.tools', '*additionaltools', '*.toolchain', 'cmake.additionalkits'],
  ...['*configurescript', '*activationscript', '*launcherscript', 'metals.*script', 'lldb.script'],
  ...['lldb.launch.*', 'lldb.server', 'lldb.rpcserver', '*scriptexecution', 'emeraldwalk.*'],
  ...['triggertaskonsave.*', 'idf.*task', '*configuretask', '*buildtask', 'jest.virtualfolders'],
  ...['maven.terminal.*', 'makefile.*configuration', 'makefile.*configurations', '*debugconfig'],
  ...['*defaultvariants', '*cacheinit', '*configuresettings', '*discoverconfig', '*enginesettings'],
  ...['*connectsequences', 'calva.customrepl*', 'ruby.lint', 'ruby.locate', 'ruby.languageserver'],
  ...['ocaml.sandbox', 'ocaml.terminal.*', 'java.test.config', '*dependencymanager'],
  ...['*procmacro.server', '*externalserver', '*openocdconfigs'],
  // Arguments.
  ...['*args', '*argv', '*arguments', '*executionargument', '*flags', '*.flag', '*switches'],
  ...['*.parameters', '*extraparameters', 'fsharp.fsi*parameters', '*.options', '*.opts'],
  ...['*startupoptions', '*containeroptions', '*additionaloptions'],
  ...['*debuggingoptions', 'mesonbuild.*options', '*serverproperties', '*jvmproperties'],
  // An environment.
  ...['*env', '*envvars', '*extravars', '*envfile', '*.environment', 'cmake.*environment'],
  ...['mesonbuild.*environment', '*serverenvironment', '*environmentvariables', '*envvariables'],
  '*envpathextensions',
  // Code that is loaded.
  ...['*pluginpaths', '*extensionpaths', '*componentpaths', '*.plugin', '*pluginpermissions'],
  ...['*.jar', '*.jars', '*.require', '*customrules', '*customsyntax', '*.configfile', '*optsfile'],
  ...['stylelint.config', 'stylelint.configbasedir', 'vitest.*config', 'php-cs-fixer.config'],
  ...['ruff.configuration', 'ruff.importstrategy', 'prettier.resolveglobalmodules', 'cspell.import'],
  ...['*userthirdparty', 'r.libpaths', '*perlinc', '*gemfile', '*rulesdependencies', 'lldb.library'],
  ...['plantuml.includepaths', '*scriptsrc', '*scriptsources', '*docker.image*'],
  ...['ansible.executionenvironment.*', 'maven.executable.*', 'maven.pomfile.autoupdateeffectivepom'],
  // A server, a proxy, or a download.
  ...['*proxy', '*endpoint', '*endpointoverride', '*serverurl', '*serveruri', '*apiroot', '*indexurl'],
  ...['*httphost', '*ipchost', '*sshhost', '*cdnhost', '*mirror', '*customrepositories', '*packageserver'],
  ...['*juliaup.server', '*symbolserverupstream', 'plantuml.server', 'markdown-preview-enhanced.*server'],
  ...['gitlens.ai.*.url', 'haskell.*url', 'esp.*url', '*store.url', '*tcl.host', 'docker.host'],
  ...['docker.context', '*kubeconfig*', 'perl.ssh*', 'perl.container*', 'sonarlint.connectedmode.servers'],
  ...['sonarlint.connectedmode.connections.*', '*maven.usersettings', '*maven.globalsettings'],
  ...['maven.settingsfile', '*downloadexternalresources*', '*externalentities', '*certificate'],
  ...['*certificatestores', '*certificateerrors'],
  // Settings that grant trust.
  ...['*trustedworkspace', '*trustedhashes', '*wrapper.checksums', 'jupyter.kernels.trusted'],
  ...['github.copilot.advanced*', 'github.copilot.chat.debug.*', '*accesspaths'],
]

export const DENIED_MESSAGE = 'is denied on this server (`SETTINGS_DENIED`)'

/** The names that lead from a setting to a part of its value: keys of objects, indexes of arrays. */
export type InnerPath = readonly (string | number)[]

/** How many parts of one value are listed at most. */
const MAX_PARTS = 100

/**
 * The parts of a setting that a pattern denies, in order: the empty path if it denies the key. Editors read
 * `"eslint": {"nodePath": …}` as `eslint.nodePath`, so the names in objects count, joined with dots, and also those of objects in
 * arrays. Takes linear time, however deep the value is.
 */
export const deniedPartsOf = (
  matchesText: (lowerCase: string) => boolean,
  key: string,
  value: unknown,
): InnerPath[] => {
  const text = key.toLowerCase()
  if (matchesText(text)) return [[]]
  if (!isContainer(value) || /^(?:files|search)(?:\.|$)/.test(text)) return []
  const found: InnerPath[] = []
  const left: Part[] = [{ parent: undefined, name: '', text, value }]
  for (let part = left.pop(); part && found.length < MAX_PARTS; part = left.pop()) {
    if (part.parent && part.isNamed && matchesText(part.text)) found.push(pathOf(part))
    else if (isContainer(part.value))
      for (const inner of partsOf(part, part.value).reverse()) left.push(inner)
  }
  return found
}

interface Part {
  parent: Part | undefined
  name: string | number
  /** Whether the name is part of the text. An array's index isn't. */
  isNamed?: boolean
  /** The names, joined with dots, in lower case. */
  text: string
  value: unknown
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

const partsOf = (parent: Part, value: object): Part[] => {
  if (Array.isArray(value))
    return value.flatMap((item: unknown, name) =>
      isContainer(item) ? [{ parent, name, text: parent.text, value: item }] : [],
    )
  return Object.entries(value).flatMap(([name, inner]) =>
    // A glob or an address, not a part of a setting's name.
    /[*/]/.test(name)
      ? []
      : [{ parent, name, isNamed: true, text: joinPath(parent.text, name.toLowerCase()), value: inner }],
  )
}

const MAX_TEXT_LENGTH = 400

/** Leaves out the middle of a long text, so that a value's depth doesn't multiply the work. */
const joinPath = (text: string, name: string): string => {
  const whole = `${text}.${name}`
  if (whole.length <= MAX_TEXT_LENGTH) return whole
  return `${whole.slice(0, MAX_TEXT_LENGTH / 2)}…${whole.slice(-MAX_TEXT_LENGTH / 2)}`
}

const pathOf = (part: Part): InnerPath => {
  const path: (string | number)[] = []
  for (let at: Part | undefined = part; at?.parent; at = at.parent) path.push(at.name)
  return path.reverse()
}

/** Whether a text in lower case matches one of these patterns. Most patterns start or end with `*`, so few are tried on a text. */
export const textMatcherOf = (denied: readonly string[]): ((lowerCase: string) => boolean) => {
  const byStart = new Map<string, Pattern[]>()
  const byEnd = new Map<string, Pattern[]>()
  const rest: Pattern[] = []
  for (const pattern of denied.map(parse)) {
    const [start, end] = [pattern.first.at(0), (pattern.last ?? pattern.first).at(-1)]
    if (start !== undefined) addTo(byStart, start, pattern)
    else if (end !== undefined) addTo(byEnd, end, pattern)
    else rest.push(pattern)
  }
  return (text) => {
    const fits = (pattern: Pattern) => matches(pattern, text)
    return (
      (byStart.get(text.at(0) ?? '')?.some(fits) ||
        byEnd.get(text.at(-1) ?? '')?.some(fits) ||
        rest.some(fits)) ??
      false
    )
  }
}

const addTo = (lists: Map<string, Pattern[]>, key: string, pattern: Pattern) => {
  const list = lists.get(key)
  if (list) list.push(pattern)
  else lists.set(key, [pattern])
}

/** The parts of a pattern between its stars. */
interface Pattern {
  first: string
  middle: readonly string[]
  /** Undefined: the pattern has no star. */
  last: string | undefined
}

const parse = (pattern: string): Pattern => {
  const [first = '', ...middle] = pattern.toLowerCase().split('*')
  return { first, last: middle.pop(), middle }
}

/** Whether all keys of a prefix are denied, as `terminal.*` does. */
export const isDeniedWhole = (denied: readonly string[], prefix: string): boolean =>
  denied.some((pattern) => pattern.endsWith('*') && matches(parse(pattern), `${prefix.toLowerCase()}.`))

/** Takes linear time: each part between two stars is searched for once. */
const matches = ({ first, middle, last }: Pattern, text: string): boolean => {
  if (last === undefined) return text === first
  if (!text.endsWith(last) || !text.startsWith(first)) return false
  let from = first.length
  for (const part of middle) {
    const found = text.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return text.length - last.length >= from
}
