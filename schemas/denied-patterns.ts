/** The defaults of `SETTINGS_DENIED` and `SETTINGS_ALLOWED`. `docs/configuration.md` explains the three kinds of patterns. */

/**
 * Names of programs and places. They deny a value only if it has a text in it, so never `true`, `false`, `null` or a number.
 * `*` stands for any text, and case doesn't matter. `test/denied-settings.test.ts` holds all patterns against two lists of published
 * settings.
 */
const PROGRAMS = [
  // A program, or the place that it's in.
  ...['*.*path*', '*executable', '*bin', '*command', '*commands', '*commandline', '*cmd', '*cmdline'],
  ...['*shell', '*runtime', '*interpreter', '*launcher', '*compiler', '*home', '*goroot', '*sdk'],
  ...['*script', '*browser', '*alternatetools', '*task', '*ripgrep', '*directory', '*cubeprogrammer'],
  ...['*toolchain', '*sandbox', '*searchdirs', '*executormap*', '*kits', 'lldb.*', 'phpunit.p*'],
  // What a program is given.
  ...['*args', '*argv', '*arguments', '*parameters', '*flags', '*options', '*opts', '*env'],
  ...['*environment*', '*envfile', '*envvariables', '*vars', '*properties', '*maven.*settings*'],
  // Code that is loaded.
  ...['*plugin', '*plugins', '*configfile', '*.require', '*customsyntax', '*import', '*gemfile'],
  ...['*userthirdparty', '*cacheinit'],
  // A server, a proxy, or a download.
  ...['*proxy', '*endpoint', '*url', '*urls', '*host', '*apiroot', '*.server', '*mirror'],
  ...['*customrepositories', '*cert*'],
]

/** Settings that grant something. They deny any value, as `!` in front of them says. */
const GRANTS = [
  ...['!security.*', '!http.*', '!terminal.*', '!task.*', '!extensions.*', '!launch*', '!chat.*', '!mcp.*'],
  ...['!remote.*', '!settingsSync.*', '!update.*', '!*trusted*', '!*checksums*', '!*permissions'],
]

/** Single settings that run programs under names that say nothing. They deny any value, too. */
const SINGLE_SETTINGS = ['!emeraldwalk.*', '!ruff.configuration', '!stylelint.config*']

export const DENIED_KEYS = [...PROGRAMS, ...GRANTS, ...SINGLE_SETTINGS]

/** The default of `SETTINGS_ALLOWED`: harmless settings that a pattern would deny. */
export const ALLOWED_KEYS = [
  ...['extensions.ignoreRecommendations', 'terminal.integrated.font*', 'terminal.integrated.cursor*'],
  ...['terminal.integrated.scrollback', 'task.problemMatchers.*', 'debug.internalConsoleOptions'],
  ...['*.trace.server', '*featureflags', '*watchoptions', '*terminal.activateEnvironment'],
  ...['intelephense.environment.phpVersion', 'java.format.settings.url', 'biome.configurationPath'],
  ...['*.ignorepath*', '*.excludepath*', '*extrapaths', '*typeshedpaths', '*localespaths', '*pathmatcher'],
  ...['*pathseparator', '*previewpath', '*tagfilepath', '*scriptanalysis.settingspath', '*enablepaths'],
  ...['*disablepaths', '*builddirectory', '*sourcedirectory', '*workingdirectory'],
  'eslint.workingDirectories.directory',
  ...['lldb.displayFormat', 'lldb.consoleMode', 'lldb.launch.terminal', 'lldb.showDisassembly'],
]
