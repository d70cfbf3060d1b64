import fc from 'fast-check'
import t from 'tap'
import { mergeSettings, overlaySettings } from '../src/features/settings/settings-merge.js'

t.test('the merge follows RFC 7396 at the top level', async (t) => {
  const key = fc.constantFrom('ext.a', 'ext.b', 'ext.c', 'ext.d')
  const present = fc.dictionary(key, fc.oneof(fc.integer(), fc.constant({ x: null })))
  const patch = fc.dictionary(key, fc.oneof(fc.integer(), fc.constant(null)))
  fc.assert(
    fc.property(present, patch, (current, changes) => {
      const merged = mergeSettings(current, changes)
      const kept = Object.keys(current).filter((name) => changes[name] !== null)
      const added = Object.keys(changes).filter((name) => changes[name] !== null && !(name in current))
      t.strictSame(Object.keys(merged), [...kept, ...added])
      for (const name of Object.keys(merged)) t.strictSame(merged[name], changes[name] ?? current[name])
    }),
  )
})

t.test('the override is merged as defined', async (t) => {
  const key = fc.constantFrom<string>('ext.a', 'ext.b', 'ext.c', 'ext.d', 'ext.e')
  const value = fc.oneof(fc.integer(), fc.constant({ x: null }), fc.constant(false))
  const workspace = fc.dictionary(key, value)
  const override = fc.dictionary(key, fc.oneof(value, fc.constant(null)))
  fc.assert(
    fc.property(workspace, override, fc.uniqueArray(key), (below, above, wanted) => {
      const locked = wanted.filter((name) => name in below)
      const { settings, sources } = overlaySettings(below, above, { locked, merged: [] })
      const kept = Object.keys(below).filter((name) => locked.includes(name) || above[name] !== null)
      t.strictSame(Object.keys(settings).slice(0, kept.length), kept, 'in their places')
      t.strictSame(Object.keys(sources), Object.keys(settings))
      for (const name of new Set([...Object.keys(below), ...Object.keys(above)])) {
        const isLocked = locked.includes(name)
        const winner = name in above && !isLocked ? above[name] : below[name]
        if (winner === null) t.notOk(name in settings)
        else t.strictSame(settings[name], winner)
        if (name in settings)
          t.equal(sources[name], isLocked ? 'locked' : name in above ? 'project' : 'workspace')
      }
    }),
  )
})

t.test('blocks merge by inner key', async (t) => {
  const keys = ['ext.a', 'ext.b']
  const blocks = ['[x]', '[y]', '[x][y]', '[z][y]']
  /** For each block, the others for one of its languages. */
  const share = new Map([
    ['[x]', ['[x][y]']],
    ['[y]', ['[x][y]', '[z][y]']],
    ['[x][y]', ['[x]', '[y]', '[z][y]']],
    ['[z][y]', ['[y]', '[x][y]']],
  ])
  const inner = fc.dictionary(fc.constantFrom(...keys), fc.integer())
  const innerOrNull = fc.dictionary(fc.constantFrom(...keys), fc.option(fc.integer()))
  const partOf = <V, B>(value: fc.Arbitrary<V>, block: fc.Arbitrary<B>) =>
    fc
      .tuple(fc.dictionary(fc.constantFrom(...keys), value), fc.dictionary(fc.constantFrom(...blocks), block))
      .map(([plain, inBlocks]): Record<string, unknown> => ({ ...plain, ...inBlocks }))
  const workspace = partOf(fc.integer(), inner)
  const override = partOf(fc.option(fc.integer()), fc.option(innerOrNull))
  fc.assert(
    fc.property(workspace, override, fc.subarray([...keys, ...blocks]), (below, above, wanted) => {
      const locked = wanted.filter((name) => name in below)
      const expected: Record<string, unknown> = {}
      const sources: Record<string, string> = {}
      for (const name of [...keys, ...blocks]) {
        const isLocked = locked.includes(name)
        const isClosed = isLocked || locked.some((lock) => share.get(name)?.includes(lock))
        const own = isClosed ? undefined : above[name]
        let value = own === undefined ? below[name] : own
        let isTouched = own !== undefined
        if (name.startsWith('[') && value !== undefined && value !== null) {
          const merged = { ...(below[name] as object) } as Record<string, unknown>
          const open = Object.entries((own ?? {}) as object).filter(([key]) => !locked.includes(key))
          for (const [key, one] of open) merged[key] = one
          value = Object.fromEntries(Object.entries(merged).filter(([, one]) => one !== null))
          isTouched = open.length > 0
          if (Object.keys(value as object).length === 0) continue
        }
        if (value === undefined || value === null) continue
        expected[name] = value
        sources[name] = isLocked ? 'locked' : isTouched ? 'project' : 'workspace'
      }
      t.same(overlaySettings(below, above, { locked, merged: [] }), { settings: expected, sources })
    }),
    { numRuns: 1_000 },
  )
})
