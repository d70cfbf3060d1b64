/** The editor's own settings, which aren't in any manifest. */

/**
 * Settings that the editor restricts in folders that aren't trusted, or keeps for the application or the machine, as of VS
 * Code 1.90 to 1.139. If that applies to most of a namespace, the list has the whole namespace.
 */
export const EDITOR_DENIED = [
  ...['agents', 'chat', 'extensions', 'http', 'keyboard', 'launch', 'mcp', 'network', 'remote', 'security'],
  ...[
    'sessions',
    'settingsSync',
    'task',
    'tasks',
    'telemetry',
    'terminal',
    'update',
    'accessibility.dimUnfocused',
  ],
  ...['application', 'editor.renderControlCharacters', 'editor.unicodeHighlight', 'files.dialog.defaultPath'],
  ...[
    ...['clickThroughInactive', 'confirmBeforeClose', 'controlsStyle', 'customMenuBarAltFocus'],
    ...[
      'customTitleBarVisibility',
      'dialogStyle',
      'doubleClickIconToClose',
      'enableMenuBarMnemonics',
      'menuStyle',
    ],
    ...['forceCustomMenuStyle', 'menuBarVisibility', 'nativeFullScreen', 'nativeTabs', 'newWindowDimensions'],
    ...[
      'newWindowProfile',
      'openFilesInNewWindow',
      'openFoldersInNewWindow',
      'openWithoutArgumentsInNewWindow',
    ],
    ...['restoreFullscreen', 'restoreWindows', 'systemColorTheme', 'titleBarStyle'],
  ].map((name) => `window.${name}`),
  ...[
    'enableExperiments',
    'externalBrowser',
    'settings.applyToAllProfiles',
    'trustedDomains',
    'welcomePage',
  ].map((name) => `workbench.${name}`),
]

/** Other namespaces belong to extensions. */
export const EDITOR_NAMESPACES = [
  ...['accessibility', 'audioCues', 'breadcrumbs', 'comments', 'debug', 'diffEditor', 'editor', 'explorer'],
  ...[
    'files',
    'interactiveWindow',
    'mergeEditor',
    'multiDiffEditor',
    'notebook',
    'outline',
    'output',
    'problems',
  ],
  ...[
    'scm',
    'screencastMode',
    'search',
    'searchEditor',
    'testing',
    'timeline',
    'window',
    'workbench',
    'zenMode',
  ],
]
