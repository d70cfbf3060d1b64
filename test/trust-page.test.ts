/** Checks that the tests and faults that docs/trust.md, docs/privacy.md and bench/faults.md name exist. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../src/platform/process/root.js'

const read = (path: string) => readFile(join(projectRoot, path), 'utf8')
const page = await read('docs/trust.md')
const rows = page.split('\n').filter((line) => /^\| (?!attack |fault )[^-]/.test(line))
/** The last column: `sign-in` is test/sign-in.test.ts. */
const proofOf = (row: string) => row.split(' | ').at(-1) ?? ''

const names = (await readdir(join(projectRoot, 'test'), { recursive: true })).filter((name) =>
  name.endsWith('.test.ts'),
)
const tests = new Set(names.map((name) => name.replace(/\.test\.ts$/, '')))

t.test('every claim in docs/privacy.md names a test that exists', async (t) => {
  const claims = Array.from(
    (await read('docs/privacy.md')).matchAll(/\((`[a-z-]+`(?:,\s`[a-z-]+`)*)\)/g),
    ([, files = '']) => Array.from(files.matchAll(/`([a-z-]+)`/g), ([, file = '']) => file),
  )
  t.ok(claims.length > 20)
  for (const file of claims.flat()) t.ok(tests.has(file), file)
})

t.test('every attack and fault has a test that exists', async (t) => {
  t.ok(rows.length > 80)
  for (const row of rows) {
    const files = Array.from(proofOf(row).matchAll(/`([\w/-]+)`/g), ([, file = '']) => file)
    t.ok(files.length > 0 || proofOf(row).includes('--only '), row.slice(0, 60))
    for (const file of files) t.ok(tests.has(file), file)
  }
})

t.test('every fault with measurements can be run', async (t) => {
  const programs = await read('test/faults/run.ts')
  const figures = await read('bench/faults.md')
  const measured = Array.from(figures.matchAll(/^\| `([a-z-]+)` \|/gm), ([, name = '']) => name)
  const named = Array.from(page.matchAll(/--only ([a-z-]+)/g), ([, name = '']) => name)
  const faults = new Set([...named, ...measured])
  t.ok(faults.size > 10)
  const sources = await Promise.all(
    [...programs.matchAll(/from '\.\/([a-z-]+)\.js'/g)].map(([, name]) => read(`test/faults/${name}.ts`)),
  )
  const known = [...sources.join('\n').matchAll(/(?:name: |killDatabase\()'([a-z-]+)'/g)].map(
    ([, name]) => name,
  )
  for (const fault of faults) t.ok(known.includes(fault), fault)
})
