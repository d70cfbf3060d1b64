/** The claims of pages of `docs/`, and the tests that they name: `file › *“a sentence”*`, or the sentence alone. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from '../src/platform/process/root.js'

interface Claim {
  /** The test file, where it is named. */
  file: string | undefined
  name: string
}

const folder = join(projectRoot, 'test')

export const claimsOf = (page: string): Claim[] =>
  [...page.matchAll(/(?:`([\w/-]+)` › )?\*“([^”]+)”\*/g)]
    .map(([, file, name = '']) => ({ file, name: name.replaceAll(/\s+/g, ' ') }))
    // Where a page explains what this looks like.
    .filter(({ name }) => !name.startsWith('a sentence'))

/** Those of the claims for which there is no such test. */
export const withoutTest = async (claims: Claim[]): Promise<Claim[]> => {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.test.ts'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const fileOf = new Map(names.map((name, index) => [name.replace(/\.test\.ts$/, ''), texts[index] ?? '']))
  const all = texts.join('\n')
  return claims.filter(({ file, name }) => {
    const text = file === undefined ? all : (fileOf.get(file) ?? '')
    // A test that is made for each of several cases has a name that goes on with the case.
    const escaped = name.replaceAll(/[.?()]/g, '\\$&')
    return !new RegExp(`test\\(\\s*(?:(['"])${escaped}\\1|\`${escaped}: \\$\\{)`).test(text)
  })
}
