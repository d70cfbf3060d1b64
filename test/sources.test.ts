/** Checks of the sources, before any request is made. */
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { is, Table } from 'drizzle-orm'
import t from 'tap'
import ts from 'typescript'
import { tables } from '../src/features/tables.js'
import { projectRoot } from '../src/platform/process/root.js'
import { createProgram, type RouteCodes, thrownCodes } from './thrown-codes.js'
import { breachesIn } from './walls.js'

interface Operation {
  operationId: string
  responses: Record<string, { content?: Record<string, { examples?: Record<string, object> }> }>
}

const declaredCodes = async (): Promise<Map<string, Set<string>>> => {
  const document = JSON.parse(await readFile(join(projectRoot, 'openapi/openapi.json'), 'utf8'))
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path as object))
  return new Map(
    (operations as Operation[]).map(({ operationId, responses }) => [
      operationId,
      new Set(
        Object.values(responses).flatMap(({ content }) =>
          Object.keys(content?.['application/problem+json']?.examples ?? {}),
        ),
      ),
    ]),
  )
}

/** Codes that are found although they can't be thrown there. */
const excused: Record<string, string[]> = {
  // Made into `upstream_failed`: the token is the service's own affair there.
  finishLogin: ['repohost_token_invalid'],
  // A member may leave; the role that is asked for is an argument.
  leaveWorkspace: ['admin_required'],
  // The caller's own numbers aren't hidden from the caller, who is a member.
  readOwnDashboard: ['member_detail_hidden', 'member_not_found'],
  // A restore sets no preconditions.
  restoreSettings: ['version_conflict'],
  // The code of another function that is created in the same place.
  startCheckout: ['no_subscription'],
  startLogin: ['upstream_failed', 'upstream_timeout'],
}

/** Any request's body can break off or be too slow on every route that reads one, so the reference doesn't list these by operation. */
const ofAnyBody = ['bad_request', 'request_timeout']

const declared = await declaredCodes()

const undeclaredOf = ({ operationId, codes }: RouteCodes) => {
  const known = [...ofAnyBody, ...(declared.get(operationId) ?? []), ...(excused[operationId] ?? [])]
  return [...codes].filter((code) => !known.includes(code)).map((code) => `${operationId}: ${code}`)
}

/** A route with two undeclared errors, as a contributor might add it. */
const planted = `
  import type { FastifyInstance } from 'fastify'
  import { ApiError } from '../errors.js'
  const fail = () => { throw new ApiError('last_admin') }
  export const routes = (app: FastifyInstance) =>
    app.route({
      method: 'GET', url: '/planted', schema: { operationId: 'planted' },
      handler: async () => { if (app.lifecycle.isClosing()) throw new ApiError('invite_expired'); fail() },
    })`
/** A feature at the bottom that reaches into others, with a comment that doesn't. */
const plantedBreach = `
  import type { FastifyInstance } from 'fastify'
  // Ids come from heartbeat_hours.
  export const READ = \`select 1 from users u join daily_activity a on true where \${'x'} in (select id from snapshots)\`
  export const use = (app: FastifyInstance) => {
    const { sessions: work, meter } = app
    return [app.sessions.tokens, work, meter, app.milestones]
  }`
/**
 * The code of docs/add-a-feature.md, by the paths in its first lines. Code that is `added` follows the text of the file, unless a
 * reader of the page has added it there.
 */
const contributing = await readFile(join(projectRoot, 'docs/add-a-feature.md'), 'utf8')
const blocks = [
  ...contributing.matchAll(/^```ts\n\/\/ ((?:src|schemas)\/[^\s,]+)(, added)?\n([\s\S]*?)^```/gm),
]
const example = Object.fromEntries(
  await Promise.all(
    blocks.map(async ([, path = '', added, code = '']) => {
      const file = join(projectRoot, path)
      if (!added) return [file, code] as const
      const text = await readFile(file, 'utf8')
      const [declaration = code] = code.match(/^export const \w+ /m) ?? []
      return [file, text.includes(declaration) ? text : `${text}\n${code}`] as const
    }),
  ),
)

const program = createProgram({
  ...example,
  [join(projectRoot, 'src/features/planted.ts')]: planted,
  [join(projectRoot, 'src/features/accounts/planted.ts')]: plantedBreach,
})
const routes = thrownCodes(program)
const real = routes.filter(({ operationId }) => declared.has(operationId))

t.test('every route declares the errors it can throw', async (t) => {
  const followed = real.map(({ operationId }) => operationId)
  t.strictSame(followed.sort(), [...declared.keys()].sort(), 'every operation was followed')
  for (const undeclared of real.flatMap(undeclaredOf)) t.fail(`${undeclared} is not declared`)
  for (const [operationId, codes] of Object.entries(excused)) {
    const found = real.find((route) => route.operationId === operationId)
    for (const code of codes) t.ok(found?.codes.has(code), `${operationId} needs its excuse for ${code}`)
  }
})

t.test('an undeclared error is detected, even in a function that a handler calls', async (t) => {
  const found = routes.filter(({ operationId }) => operationId === 'planted').flatMap(undeclaredOf)
  t.strictSame(found.sort(), ['planted: invite_expired', 'planted: last_admin'])
})

t.test('no feature uses a table or a decorator from a feature above it', (t) => {
  t.strictSame(breachesIn(program), [
    'src/features/accounts/planted.ts uses the decorator sessions of sessions',
    'src/features/accounts/planted.ts uses the decorator work of sessions',
    'src/features/accounts/planted.ts uses the table daily_activity of minutes',
    'src/features/accounts/planted.ts uses the table snapshots of settings',
  ])
  t.end()
})

/** More would mean that a feature is two, or that others do its work. */
const MAX_EXPORTS = 25

/** Whether an exported value is a statement, a table, or text: SQL that another feature would put together. */
const isSql = (name: string, value: unknown): boolean =>
  is(value, Table) ||
  (typeof value === 'object' && value !== null && 'text' in value) ||
  (typeof value === 'string' && /^[A-Z_]+$/.test(name) && /[=(,]|\b(select|case|exists)\b/.test(value))

t.test('a feature answers few questions of others, and hands out no SQL', async (t) => {
  const indexes = (await readdir(join(projectRoot, 'src/features'), { recursive: true })).filter((name) =>
    /^[^/]+\/index\.ts$/.test(name),
  )
  t.ok(indexes.length > 10)
  const checker = program.getTypeChecker()
  for (const index of indexes) {
    const source = program.getSourceFile(join(projectRoot, 'src/features', index))
    const module = source && checker.getSymbolAtLocation(source)
    const names = module ? checker.getExportsOfModule(module) : []
    t.ok(names.length > 0 && names.length <= MAX_EXPORTS, `${index} exports ${names.length}`)
    const values = await import(join(projectRoot, 'build/src/features', index.replace(/ts$/, 'js')))
    const sql = Object.entries(values).filter(([name, value]) => isSql(name, value))
    t.strictSame(
      sql.map(([name]) => name),
      [],
      index,
    )
  }
  for (const [name, value] of Object.entries({
    members: tables[0]?.table,
    READ: { name: 'read', text: 'select 1' },
    COUNTS: 'commits, closed_issues',
    IS_NOT_DELETED: `user_id <> 'x' and exists (select)`,
  }))
    t.ok(isSql(name, value), `the test finds ${name}`)
})

/** Strings and arrays in what `t.match` expects: it accepts a part of the string, and the first items of the array. */
const looseMatchesOf = (path: string, text: string): string[] => {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  const isLoose = (node: ts.Node): boolean => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) return false
    if (ts.isPropertyAssignment(node)) return isLoose(node.initializer)
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return true
    return ts.isArrayLiteralExpression(node) || ts.forEachChild(node, isLoose) === true
  }
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === 't.match') {
      const expected = node.arguments[1]
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      if (expected && isLoose(expected)) found.push(`${path}:${line + 1}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

t.test('no test compares only part of a string or the first items in an array', async (t) => {
  const folder = join(projectRoot, 'test')
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  t.strictSame(
    files.flatMap((file, n) =>
      texts[n]?.includes('t.match(') ? looseMatchesOf(`test/${file}`, texts[n]) : [],
    ),
    [],
    'use t.equal, t.hasStrict or hasProperties instead',
  )
  for (const loose of ["'a'", "{ a: 'b' }", `{ a: { b: \`\${c}\` } }`, '[1]', '{ a: [] }'])
    t.strictSame(looseMatchesOf('x.ts', `t.match(found, ${loose})`), ['x.ts:1'], loose)
  for (const strict of ['/a/', "new RegExp('a')", '{ a: /b/, c: 1 }', "f('a')", 'expected'])
    t.strictSame(looseMatchesOf('x.ts', `t.match(found, ${strict})`), [], strict)
})

/** Ways to measure a time: clocks of processes, and how long ago a moment was that the test took. */
const MEASURES_TIME =
  /performance\.now|cpuUsage|hrtime|longestStall|process\.uptime|Date\.now\(\) - [a-z]\w*(?! ?[\w*(])/

t.test('no test asserts a time, because bench/ measures times', async (t) => {
  const folder = join(projectRoot, 'test')
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.test.ts'))
  const others = files.filter((name) => name !== 'sources.test.ts')
  const texts = await Promise.all(others.map((file) => readFile(join(folder, file), 'utf8')))
  t.strictSame(
    others.filter((_, n) => MEASURES_TIME.test(texts[n] ?? '')),
    [],
    'count turns, statements, rows or bytes, or test the order of events',
  )
  for (const measure of ['performance.now()', 'Date.now() - started < 1_000', 'Date.now() - before)'])
    t.match(measure, MEASURES_TIME)
  for (const moment of ['Date.now() - 86_400_000', 'Date.now() - 25 * HOUR', 'Date.now() - days * DAY'])
    t.notMatch(moment, MEASURES_TIME)
})

/** The syntax tree of a source: the program's own, if it has the file. */
const parse = (path: string, text?: string) =>
  (text === undefined && program.getSourceFile(join(projectRoot, path))) ||
  ts.createSourceFile(
    path,
    text ?? readFileSync(join(projectRoot, path), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  )

/** Bounds that are no limit of the service: parts of a calendar, and what another standard says. */
const otherBounds: Record<string, number[]> = {
  // Hours of a day and of a week.
  'schemas/dashboard.ts': [23, 168],
  'schemas/recording.ts': [23, 24],
  'web/screens/my-data.tsx': [23, 24],
  // Parameters of OAuth, a return path, and cursors and entity tags, which the service makes itself.
  'schemas/auth.ts': [1_000],
  'schemas/common.ts': [1_000],
  // The billing provider's own: the last second of the year 9999, and the length of its names.
  'schemas/billing.ts': [255, 253_402_300_799],
  // An invite link, of which only the code is used.
  'web/screens/workspaces.tsx': [200],
}

/** Numbers of two digits and more that bound something: in a schema, in a field of a form, or as a length. */
const boundsIn = (path: string, source: ts.SourceFile): { place: string; value: number }[] => {
  const found: { place: string; value: number }[] = []
  const isBound = ({ parent }: ts.Node): boolean => {
    if (ts.isPropertyAssignment(parent))
      return /^(max|min)(imum|Length|Items|Properties)$/.test(parent.name.getText())
    if (ts.isJsxExpression(parent) && ts.isJsxAttribute(parent.parent))
      return /^(max|min)(length)?$/i.test(parent.parent.name.getText())
    return ts.isBinaryExpression(parent) && /\.length [<>]=? /.test(parent.getText())
  }
  const visit = (node: ts.Node) => {
    if (ts.isNumericLiteral(node) && Number(node.text) >= 10 && isBound(node)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      found.push({ place: `${path}:${line + 1}`, value: Number(node.text) })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const sourcesIn = async (...folders: string[]): Promise<string[]> => {
  const listed = folders.map(async (folder) =>
    (await readdir(join(projectRoot, folder), { recursive: true })).map((name) => `${folder}/${name}`),
  )
  return (await Promise.all(listed)).flat().filter((path) => /\.tsx?$/.test(path))
}

t.test('bounds in schemas, forms and features come from schemas/limits.ts', async (t) => {
  const sources = await sourcesIn('schemas', 'src/features', 'web', 'client/src')
  const files = sources.filter((path) => !/(limits|environment)\.ts$/.test(path))
  const copied = files.flatMap((path) =>
    boundsIn(path, parse(path))
      .filter(({ value }) => !otherBounds[path]?.includes(value))
      .map(({ place, value }) => `${place}: ${value}`),
  )
  t.strictSame(copied, [], 'use a member of `limits`, or name the number')
  for (const copy of ['Type.String({ maxLength: 100 })', '<input maxLength={64} />', 'name.length > 1_000'])
    t.equal(boundsIn('x.tsx', parse('x.tsx', copy)).length, 1, copy)
  for (const fine of [
    '{ maxLength: limits.login_length }',
    '{ minLength: 1 }',
    'rows > 100',
    'key.length > MOST',
  ])
    t.strictSame(boundsIn('x.tsx', parse('x.tsx', fine)), [], fine)
})

/**
 * Tables of what is known, looked up by a text: an object also has `constructor` and `__proto__`, which callers can send. TypeScript
 * allows a text as the key only of a `Record<string, …>`, or with a cast.
 */
const lookupsIn = (path: string, source: ts.SourceFile): string[] => {
  const tables = new Set<string>()
  const found: string[] = []
  const visit = (node: ts.Node) => {
    if (ts.isVariableDeclaration(node) && /^Record<string\b/.test(node.type?.getText() ?? ''))
      if (node.initializer && ts.isObjectLiteralExpression(node.initializer))
        if (node.initializer.properties.length > 0) tables.add(node.name.getText())
    if (ts.isElementAccessExpression(node) && !ts.isLiteralExpression(node.argumentExpression)) {
      const isCast = /\bas keyof\b/.test(node.argumentExpression.getText())
      if (tables.has(node.expression.getText()) || isCast)
        found.push(`${path}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

t.test('no untrusted name looks up an object’s inherited properties', async (t) => {
  // Their names are those of the object itself.
  const excused = ['src/environment.ts', 'web/screens/settings.tsx']
  for (const path of await sourcesIn('schemas', 'src', 'web', 'client/src'))
    if (!excused.includes(path)) t.strictSame(lookupsIn(path, parse(path)), [])
  const table = 'const known: Record<string, number> = { a: 1 };'
  for (const unsafe of [`${table} known[text]`, 'known[text as keyof typeof known]'])
    t.equal(lookupsIn('x.ts', parse('x.ts', unsafe)).length, 1, unsafe)
  for (const fine of [`${table} known['a']`, 'list[0]', 'const own: Record<string, number> = {}; own[text]'])
    t.strictSame(lookupsIn('x.ts', parse('x.ts', fine)), [], fine)
})

/** Work of features in the background is a task (`platform/process/repeat.ts`), which stops with the service. */
const TIMER = /\bset(Interval|Timeout)\b/
/** Only what has a limit of its own in `GET /api/limits` is larger than other bodies. */
const OWN_BODY_LIMIT = /\bbodyLimit\b(?!: limits\.\w+_body_bytes,)/

t.test('features have no timers or body limits of their own', async (t) => {
  // They wait for one request, or collect what requests leave.
  const excused = ['editors/routes/import.ts', 'funnel/milestones.ts']
  for (const path of await sourcesIn('src/features')) {
    const text = await readFile(join(projectRoot, path), 'utf8')
    t.notMatch(text, OWN_BODY_LIMIT, path)
    t.equal(TIMER.test(text), excused.includes(path.slice('src/features/'.length)), path)
  }
  for (const unsafe of [
    'bodyLimit: 50_000_000,',
    'bodyLimit: limits.body_bytes * 50,',
    'const bodyLimit = 5',
  ])
    t.match(unsafe, OWN_BODY_LIMIT)
  for (const unsafe of [
    'setInterval(all, 1_000)',
    "import { setTimeout as sleep } from 'node:timers/promises'",
  ])
    t.match(unsafe, TIMER)
})

t.test('the current day comes from the database’s clock', async (t) => {
  const folder = join(projectRoot, 'src')
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const ofProcess = /(new Date\(\)|Date\.now\(\)\)?)\.?(toISOString\(\))?\.slice/
  t.strictSame(
    files.filter((_, n) => ofProcess.test(texts[n] ?? '')),
    [],
    'use readToday',
  )
})

t.test('the example in docs/add-a-feature.md compiles, and its routes are found', async (t) => {
  for (const path of Object.keys(example)) {
    const problems = program.getSemanticDiagnostics(program.getSourceFile(path))
    t.strictSame(
      problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
      [],
      path,
    )
  }
  t.equal(Object.keys(example).length, 5)
  t.ok(routes.some(({ operationId }) => operationId === 'postAnnouncement'))
})
