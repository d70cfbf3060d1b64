/** What can be told from the sources alone, before any request is made. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { projectRoot } from '../src/platform/process/root.js'
import { createProgram, type RouteCodes, thrownCodes } from './thrown-codes.js'

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

/** What is found although it cannot be thrown there. */
const excused: Record<string, string[]> = {
  // Made into `upstream_failed`: the token is the service's own affair there.
  finishLogin: ['repohost_token_invalid'],
  // A member may leave; the role that is asked for is an argument.
  leaveWorkspace: ['admin_required'],
  // The caller's own numbers are not hidden from the caller, who is a member.
  readOwnDashboard: ['member_detail_hidden', 'member_not_found'],
  // Of the other function that is made in the same place.
  startCheckout: ['no_subscription'],
}

const declared = await declaredCodes()

const undeclaredOf = ({ operationId, codes }: RouteCodes) => {
  const known = [...(declared.get(operationId) ?? []), ...(excused[operationId] ?? [])]
  return [...codes].filter((code) => !known.includes(code)).map((code) => `${operationId}: ${code}`)
}

/** A route with two undeclared errors, as somebody might add it. */
const planted = `
  import type { FastifyInstance } from 'fastify'
  import { ApiError } from '../errors.js'
  const fail = () => { throw new ApiError('last_admin') }
  export const routes = (app: FastifyInstance) =>
    app.route({
      method: 'GET', url: '/planted', schema: { operationId: 'planted' },
      handler: async () => { if (app.isClosing()) throw new ApiError('invite_expired'); fail() },
    })`
/** The code of CONTRIBUTING.md, by the paths in its first lines; what is `added` follows the text of the file. */
const contributing = await readFile(join(projectRoot, 'CONTRIBUTING.md'), 'utf8')
const blocks = [
  ...contributing.matchAll(/^```ts\n\/\/ ((?:src|schemas)\/[^\s,]+)(, added)?\n([\s\S]*?)^```/gm),
]
const example = Object.fromEntries(
  await Promise.all(
    blocks.map(async ([, path = '', added, code = '']) => {
      const file = join(projectRoot, path)
      return [file, added ? `${await readFile(file, 'utf8')}\n${code}` : code] as const
    }),
  ),
)

const program = createProgram({ ...example, [join(projectRoot, 'src/features/planted.ts')]: planted })
const routes = thrownCodes(program)
const real = routes.filter(({ operationId }) => declared.has(operationId))

t.test('every error that a route can throw is declared by it', async (t) => {
  const followed = real.map(({ operationId }) => operationId)
  t.strictSame(followed.sort(), [...declared.keys()].sort(), 'every operation was followed')
  for (const undeclared of real.flatMap(undeclaredOf)) t.fail(`${undeclared} is not declared`)
  for (const [operationId, codes] of Object.entries(excused)) {
    const found = real.find((route) => route.operationId === operationId)
    for (const code of codes) t.ok(found?.codes.has(code), `${operationId} needs its excuse for ${code}`)
  }
})

t.test('an undeclared error is found, also in a function that a handler calls', async (t) => {
  const found = routes.filter(({ operationId }) => operationId === 'planted').flatMap(undeclaredOf)
  t.strictSame(found.sort(), ['planted: invite_expired', 'planted: last_admin'])
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

t.test('no test is content with a part of a string or the first items of an array', async (t) => {
  const folder = join(projectRoot, 'test')
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  t.strictSame(
    files.flatMap((file, n) => looseMatchesOf(`test/${file}`, texts[n] ?? '')),
    [],
    'use t.equal, t.hasStrict or hasMembers instead',
  )
  for (const loose of ["'a'", "{ a: 'b' }", `{ a: { b: \`\${c}\` } }`, '[1]', '{ a: [] }'])
    t.strictSame(looseMatchesOf('x.ts', `t.match(found, ${loose})`), ['x.ts:1'], loose)
  for (const strict of ['/a/', "new RegExp('a')", '{ a: /b/, c: 1 }', "f('a')", 'expected'])
    t.strictSame(looseMatchesOf('x.ts', `t.match(found, ${strict})`), [], strict)
})

t.test('the example of CONTRIBUTING.md compiles, and its routes are found', async (t) => {
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
