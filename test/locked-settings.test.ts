import fc from 'fast-check'
import t from 'tap'
import { hasProperties } from './has-properties.js'
import { retryWhileUnavailable, reuseService, startTeam } from './service.js'

const team = '/api/team'

t.test('a locked key has the workspace’s value, whatever an older override contains', async (t) => {
  const { ada, bob, id } = await startTeam(t, 'bob')
  const settings = `${team}/workspaces/${id}/settings`
  const override = `${team}/workspaces/${id}/project-settings/acme/api`
  const config = async () => {
    const { settings, sources, locked } = (await bob.get(`${team}/effective-config?repo=acme/api`)).body
    return { settings, sources, locked }
  }
  await ada.patch(settings, { settings: { 'ext.a': 1, 'ext.b': 2, 'ext.c': 3 } })
  await ada.put(override, { settings: { 'ext.a': 10, 'ext.b': null, 'ext.d': 40 } })

  const locked = await ada.patch(settings, { locked: ['ext.b', 'ext.a'] })
  t.hasStrict(locked, { status: 200, body: { version: 3 } })
  t.same(locked.body.locked, ['ext.b', 'ext.a'])
  t.same((await bob.get(settings)).body, locked.body)
  t.same(await config(), {
    settings: { 'ext.a': 1, 'ext.b': 2, 'ext.c': 3, 'ext.d': 40 },
    sources: { 'ext.a': 'locked', 'ext.b': 'locked', 'ext.c': 'workspace', 'ext.d': 'project' },
    locked: ['ext.b', 'ext.a'],
  })
  t.same(
    (await bob.get(override)).body.settings,
    { 'ext.a': 10, 'ext.b': null, 'ext.d': 40 },
    'the override stays as it was',
  )
  await ada.patch(settings, { settings: { 'ext.a': 'new' } })
  t.equal((await config()).settings['ext.a'], 'new', 'the workspace can change what it has locked')

  const removed = await ada.patch(settings, { settings: { 'ext.a': null } })
  t.same(removed.body.locked, ['ext.b'], 'a key that is removed loses its lock')
  t.hasStrict(await config(), { settings: { 'ext.a': 10 }, sources: { 'ext.a': 'project' } })
  await ada.patch(settings, { locked: [] })
  t.same(await config(), {
    settings: { 'ext.c': 3, 'ext.d': 40, 'ext.a': 10 },
    sources: { 'ext.c': 'workspace', 'ext.d': 'project', 'ext.a': 'project' },
    locked: [],
  })
})

t.test('an override can’t contain a locked key, however it’s written', async (t) => {
  const { ada, id } = await startTeam(t)
  const override = `${team}/workspaces/${id}/project-settings/acme/api`
  await ada.put(override, { settings: { 'ext.a': 5 } })
  await ada.put(override, { settings: { 'ext.z': 1 } })
  const patch = { settings: { 'ext.a': 1, 'ext.b': 2, 'ext.c': 3 }, locked: ['ext.a', 'ext.b'] }
  await ada.patch(`${team}/workspaces/${id}/settings`, patch)
  const rejected = (...keys: string[]) => ({ status: 422, body: { code: 'key_locked', keys } })
  for (const value of [7, 1, null]) {
    hasProperties(t, await ada.put(override, { settings: { 'ext.a': value } }), rejected('ext.a'))
  }
  const both = { settings: { 'ext.c': 1, 'ext.b': 1, 'ext.a': 1 } }
  hasProperties(t, await ada.put(override, both), rejected('ext.a', 'ext.b'))
  hasProperties(
    t,
    await ada.request('PUT', `${override}?if_match="x"`, { body: both }),
    rejected('ext.a', 'ext.b'),
  )
  hasProperties(t, await ada.post(`${override}/restore`, { version: 1 }), rejected('ext.a'))
  t.hasStrict((await ada.get(override)).body, { version: 2 })
  t.equal((await ada.put(override, { settings: { 'ext.c': 9 } })).status, 200)
})

t.test('only settings keys can be locked', async (t) => {
  const { ada, id } = await startTeam(t)
  const path = `${team}/workspaces/${id}/settings`
  await ada.patch(path, { settings: { 'ext.a': 1 } })
  hasProperties(t, await ada.patch(path, { locked: ['ext.a', 'ext.b'], settings: { 'ext.c': 1 } }), {
    status: 400,
    body: {
      code: 'validation_failed',
      errors: [{ path: '/body/locked/1', message: 'must be a key of the settings' }],
    },
  })
  t.equal((await ada.patch(path, { locked: ['ext.a'], settings: { 'ext.a': null } })).status, 400)
  for (const locked of [null, 'ext.a', ['a'], [1], ['ext.a', 'ext.a'], [`ext.${'x'.repeat(197)}`]]) {
    t.equal((await ada.patch(path, { locked })).status, 400, JSON.stringify(locked))
  }
  t.hasStrict((await ada.get(path)).body, { version: 2 }, 'nothing was changed')
  t.hasStrict((await ada.patch(path, { locked: ['ext.b'], settings: { 'ext.b': 1 } })).body, { version: 3 })
  t.hasStrict(
    (await ada.patch(path, { locked: ['ext.b'] })).body,
    { version: 3 },
    'the same list is no change',
  )
})

t.test('in any order of changes, the workspace, then the override, then the locks decide', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const keys = ['ext.a', 'ext.b', 'ext.c', 'ext.toString']
  const key = fc.constantFrom(...keys)
  const value = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(null))
  const change = fc.oneof(
    fc.record({ kind: fc.constant('workspace'), settings: fc.dictionary(key, value) }),
    fc.record({ kind: fc.constant('override'), settings: fc.dictionary(key, value) }),
    fc.record({ kind: fc.constant('lock'), locked: fc.uniqueArray(key) }),
    fc.record({ kind: fc.constant('remove') }),
    fc.record({ kind: fc.constant('restore'), back: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('restore override'), back: fc.integer({ min: 1, max: 3 }) }),
  ) as fc.Arbitrary<{
    kind: string
    settings?: Record<string, unknown>
    locked?: string[]
    back?: number
  }>
  let teams = 0
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 14 }), async (changes) => {
      const owner = `acme-${teams++}`
      const { id } = await service.workspace(ada, { patterns: [`${owner}/*`] })
      const settings = `${team}/workspaces/${id}/settings`
      const override = `${team}/workspaces/${id}/project-settings/${owner}/api`
      // A model of the rules, independent of the service.
      type Model = Record<string, unknown>
      const history: { below: Model; locked: string[] }[] = [{ below: {}, locked: [] }]
      let overrides: Model[] = []
      const now = () => history[history.length - 1] ?? { below: {}, locked: [] }
      const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
      const write = (next: { below: Model; locked: string[] }) => {
        if (!isSame(next, now())) history.push(next)
      }
      const isOpen = (above: Model) => !now().locked.some((name) => Object.hasOwn(above, name))
      for (const { kind, settings: given = {}, locked = [], back = 1 } of changes) {
        if (kind === 'workspace') {
          await ada.patch(settings, { settings: given })
          const below = { ...now().below }
          for (const name of Object.keys(given)) {
            if (given[name] === null) delete below[name]
            else below[name] = given[name]
          }
          write({ below, locked: now().locked.filter((name) => Object.hasOwn(below, name)) })
        } else if (kind === 'lock') {
          const { status } = await ada.patch(settings, { locked })
          const fits = locked.every((name) => Object.hasOwn(now().below, name))
          t.equal(status, fits ? 200 : 400)
          if (fits) write({ below: now().below, locked })
        } else if (kind === 'override') {
          const { status } = await ada.put(override, { settings: given })
          t.equal(status, isOpen(given) ? 200 : 422)
          if (isOpen(given) && !isSame(overrides.at(-1), given)) overrides.push(given)
        } else if (kind === 'remove') {
          t.equal((await ada.delete(override)).status, overrides.length > 0 ? 200 : 404)
          overrides = []
        } else if (kind === 'restore') {
          const old = history[history.length - back]
          await ada.post(`${settings}/restore`, { version: Math.max(1, history.length - back + 1) })
          const first = history[0]
          const target = old ?? first
          if (target) write(target)
        } else {
          const old = overrides[overrides.length - back]
          const { status } = await ada.post(`${override}/restore`, {
            version: Math.max(1, overrides.length - back + 1),
          })
          const target = old ?? overrides[0]
          t.equal(status, target === undefined ? 404 : isOpen(target) ? 200 : 422)
          if (target && isOpen(target) && !isSame(overrides.at(-1), target)) overrides.push(target)
        }
        const { below, locked: locks } = now()
        const above = overrides.at(-1) ?? {}
        const expected: Model = {}
        const sources: Record<string, string> = {}
        for (const name of keys) {
          const isLocked = locks.includes(name)
          const isAbove = Object.hasOwn(above, name) && !isLocked
          const winner = isAbove ? above[name] : below[name]
          if (winner === undefined || winner === null) continue
          expected[name] = winner
          sources[name] = isLocked ? 'locked' : isAbove ? 'project' : 'workspace'
        }
        const { body } = await ada.get(`${team}/effective-config?repo=${owner}/api&workspace=${id}`)
        t.same(body.settings, expected)
        t.same(body.sources, sources)
        t.same(body.locked, locks)
      }
    }),
    { numRuns: 8 },
  )
})

t.test('a lock and an override written concurrently never both apply', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  for (let round = 0; round < 20; round++) {
    const owner = `acme-${round}`
    const { id } = await service.workspace(ada, { patterns: [`${owner}/*`] })
    const settings = `${team}/workspaces/${id}/settings`
    const override = `${team}/workspaces/${id}/project-settings/${owner}/api`
    await ada.patch(settings, { settings: { 'ext.a': 1 } })
    const [lock, ...sets] = await Promise.all([
      retryWhileUnavailable(() => ada.patch(settings, { locked: ['ext.a'] })),
      retryWhileUnavailable(() => ada.put(override, { settings: { 'ext.a': 2 } })),
      retryWhileUnavailable(() => ada.put(override, { settings: { 'ext.b': 2 } })),
    ])
    t.equal(lock.status, 200)
    t.equal(sets[1]?.status, 200)
    const config = (await ada.get(`${team}/effective-config?repo=${owner}/api&workspace=${id}`)).body
    t.equal(config.settings['ext.a'], 1)
    t.equal(config.sources['ext.a'], 'locked')
    // The audit trail has the order in which they took effect.
    const { entries } = (await ada.get(`${team}/workspaces/${id}/audit`)).body
    const trail: { action: string; details: { locked?: string[]; added?: string[] } }[] = entries.reverse()
    const lockedAt = trail.findIndex(({ details }) => details.locked !== undefined)
    const setAt = trail.findIndex(
      ({ action, details }) => action === 'override.set' && details.added?.includes('ext.a'),
    )
    t.equal(sets[0]?.status, setAt === -1 ? 422 : 200)
    t.ok(setAt < lockedAt, 'no override with the key was accepted after the lock')
  }
})
