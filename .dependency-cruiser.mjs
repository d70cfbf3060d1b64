/** Which file may import which: one way inside a feature, between features, and between the folders of `src`. */
const feature = '^src/features/([^/]+)/'

/** Each feature may use those after it, through their index. `test/walls.ts` holds SQL and decorators to the same list. */
export const below = {
  'personal-data': [
    'editors',
    'dashboard',
    'rollups',
    'previous',
    'counts',
    'minutes',
    'recording',
    'named-repos',
    'own-time',
    'settings',
    'workspaces',
    'billing',
    'models',
    'funnel',
    'privacy',
    'sessions',
    'keys',
    'accounts',
  ],
  repositories: ['rollups', 'minutes', 'settings', 'workspaces', 'privacy', 'accounts'],
  editors: [
    'minutes',
    'recording',
    'named-repos',
    'own-time',
    'settings',
    'workspaces',
    'sessions',
    'accounts',
  ],
  dashboard: ['rollups', 'minutes', 'own-time', 'workspaces', 'privacy', 'keys', 'accounts'],
  rollups: ['minutes', 'own-time', 'workspaces', 'privacy', 'accounts'],
  counts: ['minutes', 'settings', 'workspaces', 'privacy', 'keys', 'accounts'],
  previous: ['minutes', 'own-time', 'editors', 'workspaces', 'accounts'],
  minutes: ['recording', 'named-repos', 'own-time', 'workspaces', 'accounts'],
  'own-time': ['workspaces', 'accounts'],
  recording: ['workspaces', 'accounts'],
  settings: ['workspaces', 'named-repos', 'privacy', 'keys', 'accounts'],
  workspaces: ['privacy', 'sessions', 'keys', 'accounts'],
  billing: ['accounts'],
  models: ['accounts'],
  funnel: ['accounts'],
  privacy: [],
  'sign-in': ['workspaces', 'sessions', 'keys', 'accounts'],
  sessions: ['keys', 'accounts'],
  keys: ['accounts'],
  'named-repos': [],
  accounts: [],
}

/** Each room of the platform may use those before it. */
const rooms = [
  'process',
  'metrics',
  'database',
  'time',
  'access',
  'rate-limits',
  'http',
  'hosts',
  'settings-schema',
  'openapi',
]

const never = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

export default {
  forbidden: [
    never('no-circles', 'Two files that need each other are one.', {}, { circular: true }),
    never(
      'schemas-are-the-bottom',
      'Schemas import TypeBox and each other.',
      { path: '^schemas/' },
      { pathNot: ['^schemas/', '^node_modules/@sinclair/typebox'] },
    ),
    never(
      'service-alone',
      'The service needs nothing of the page, the demo, tests and benchmarks.',
      { path: '^src/' },
      { path: '^(demo|test|bench|web|client|extension|examples)/' },
    ),
    never(
      'page-through-client',
      'The page knows the service by its client alone.',
      { path: '^(web|client/src|extension|examples)/' },
      { path: '^(src|demo|test|bench)/' },
    ),
    never(
      'platform-knows-no-feature',
      'A feature registers itself with the platform; app.ts joins the two.',
      { path: '^src/platform/' },
      { path: '^src/(features|operator|bin|app|server)' },
    ),
    ...rooms.map((room, index) =>
      never(
        `${room}-looks-down`,
        'The rooms of the platform are in order.',
        { path: `^src/platform/${room}/` },
        { path: `^src/platform/(${rooms.slice(index + 1).join('|') || 'none'})/` },
      ),
    ),
    never(
      'configuration-above-all',
      'Programs read the configuration. Everything else is given it, and knows its type.',
      { path: '^src/(platform|features)/' },
      { path: '^src/config\\.ts$', dependencyTypesNot: ['type-only'] },
    ),
    never(
      'configuration-knows-no-feature',
      'The configuration is read before there are features.',
      { path: '^src/(config|environment)\\.ts$' },
      { path: '^src/(features|operator)/' },
    ),
    never(
      'errors-know-no-metrics',
      'What counts errors knows them.',
      { path: '^src/errors\\.ts$' },
      { path: '^src/(features|operator|platform/metrics)/' },
    ),
    never(
      'features-know-no-operator',
      'Commands use features, and no feature a command.',
      { path: '^src/features/' },
      { path: '^src/(operator|bin|app|server)' },
    ),
    ...Object.entries(below).map(([name, others]) =>
      never(
        `${name}-looks-down`,
        `${name} may import ${others.join(', ') || 'no other feature'}.`,
        { path: `^src/features/${name}/` },
        { path: feature, pathNot: `^src/features/(${[name, ...others].join('|')})/` },
      ),
    ),
    never(
      'features-by-their-index',
      'Another feature is used through its index.ts; its tables.ts only by another tables.ts.',
      { path: feature, pathNot: '/tables\\.ts$' },
      { path: feature, pathNot: ['^src/features/$1/', '/index\\.ts$'] },
    ),
    never(
      'tables-alone',
      'Tables import tables.',
      { path: `${feature}tables\\.ts$` },
      {
        path: '^src/',
        pathNot: ['/tables\\.ts$', '^src/platform/database/', 'deleted-user\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    never(
      'queries-below-policies',
      'tables ← queries ← policies ← operations ← routes, jobs.',
      { path: `${feature}queries(\\.ts|/)` },
      { path: [`${feature}(policies|routes|jobs|access)(\\.ts|/)`, '^node_modules/fastify'] },
    ),
    never(
      'policies-below-operations',
      'tables ← queries ← policies ← operations ← routes, jobs.',
      { path: `${feature}policies(\\.ts|/)` },
      {
        path: [
          `${feature}(routes|jobs)(\\.ts|/)`,
          `${feature}tables\\.ts$`,
          '^node_modules/(fastify|drizzle-orm|postgres)',
        ],
      },
    ),
    never(
      'operations-below-routes',
      'tables ← queries ← policies ← operations ← routes, jobs.',
      { path: feature, pathNot: [`${feature}(routes|jobs|index)(\\.ts|/)`] },
      { path: `${feature}(routes|jobs)(\\.ts|/)` },
    ),
    never(
      'sql-in-queries',
      'Only tables and queries know the database.',
      { path: feature, pathNot: `${feature}(tables|queries|index)(\\.ts|/)` },
      { path: [`${feature}tables\\.ts$`, '^node_modules/(drizzle-orm|postgres)'] },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
}
