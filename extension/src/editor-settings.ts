/** The editor's own namespaces of settings, which aren't in any manifest. */

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
