/** Checks that a test exists for every claim of docs/trust.md. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withWork } from '../src/operator/config-docs.js'
import { projectRoot } from '../src/platform/process/root.js'
import { workOfOperations } from '../src/work.js'
import { claimsOf, withoutTest } from './claims.js'
import { worstOperations } from './faults/worst-operations.js'

const page = await readFile(join(projectRoot, 'docs/trust.md'), 'utf8')

t.test('every claim of docs/trust.md names an existing test', async (t) => {
  const claims = claimsOf(page)
  t.ok(claims.length > 60)
  t.same(
    claims.filter(({ file }) => file === undefined),
    [],
    'each with its file',
  )
  t.same(await withoutTest(claims), [])
})

t.test('every fault with figures can be run', async (t) => {
  const programs = await readFile(join(projectRoot, 'test/faults/run.ts'), 'utf8')
  const faults = new Set([...page.matchAll(/--only ([a-z-]+)/g)].map(([, name = '']) => name))
  t.ok(faults.size > 10)
  const sources = await Promise.all(
    [...programs.matchAll(/from '\.\/([a-z-]+)\.js'/g)].map(([, name]) =>
      readFile(join(projectRoot, `test/faults/${name}.ts`), 'utf8'),
    ),
  )
  const known = [...sources.join('\n').matchAll(/(?:name: |killDatabase\()'([a-z-]+)'/g)].map(
    ([, name]) => name,
  )
  for (const fault of faults) t.ok(known.includes(fault), fault)
})

t.test('the tables of operations and tasks match the code, and no declaration is left over', async (t) => {
  t.equal(page, withWork(page), 'run `npm run config-docs`')
  const document = JSON.parse(await readFile(join(projectRoot, 'openapi/openapi.json'), 'utf8'))
  const operations = Object.values(document.paths).flatMap((path) =>
    Object.values(path as object).map(({ operationId }) => operationId),
  )
  t.strictSame(Object.keys(workOfOperations).sort(), operations.sort())
  t.strictSame(
    Object.keys(worstOperations).sort(),
    operations,
    'and test/faults/worst-operations.ts has an entry for each',
  )
})
