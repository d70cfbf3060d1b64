/** Checks that a test exists for every claim of docs/trust.md. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../src/platform/process/root.js'
import { claimsOf, withoutTest } from './claims.js'

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
