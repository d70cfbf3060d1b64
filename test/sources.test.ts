/** What can be told from the sources alone, before any request is made. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { projectRoot } from '../src/runtime/root.js'
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
/** The code of CONTRIBUTING.md, by the paths in its first lines. */
const contributing = await readFile(join(projectRoot, 'CONTRIBUTING.md'), 'utf8')
const example = Object.fromEntries(
  [...contributing.matchAll(/^```ts\n\/\/ ((?:src|schemas)\/\S+)\n([\s\S]*?)^```/gm)].map(
    ([, path = '', code = '']) => [join(projectRoot, path), code],
  ),
)

const program = createProgram({ ...example, [join(projectRoot, 'src/routes/planted.ts')]: planted })
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

t.test('the example of CONTRIBUTING.md compiles, and its route is found', async (t) => {
  for (const path of Object.keys(example)) {
    const problems = program.getSemanticDiagnostics(program.getSourceFile(path))
    t.strictSame(
      problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
      [],
      path,
    )
  }
  t.equal(Object.keys(example).length, 3)
  t.ok(routes.some(({ operationId }) => operationId === 'listAdmins'))
})
