import fc from 'fast-check'
import t from 'tap'
import { mergeSettings, overlaySettings } from '../src/features/workspaces/settings-merge.js'

t.test('the merge follows RFC 7396 on the first level', async (t) => {
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
      const { settings, sources } = overlaySettings(below, above, locked)
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
