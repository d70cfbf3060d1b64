import t from 'tap'
import { bundle, load } from '../bundle.js'

interface Functions {
  namesSince: (changedAt: string) => string
  sinceText: (workspace: object) => string
}

t.test('after a privacy level change, every screen shows the same day', async (t) => {
  const { namesSince, sinceText } = (await load(
    t,
    await bundle('web/consent.ts', { banner: { js: 'const document = { getElementById: () => null }' } }),
  )) as Functions
  t.equal(namesSince('2026-11-24T09:30:00.000Z'), '2026-11-30', 'names start with the next week')
  t.equal(
    namesSince('2026-11-29T09:30:00.000Z'),
    '2026-12-07',
    'on a Sunday, the next week has begun somewhere',
  )
  const workspace = { activity_privacy: 'named', created_at: '2026-11-01T09:30:00.000Z' }
  const changed = { ...workspace, activity_privacy_since: '2026-11-24T09:30:00.000Z' }
  t.match(sinceText(changed), /^Days before .*\b30\b.* stay hidden\.$/)
  t.equal(sinceText({ ...changed, activity_privacy: 'team' }), '')
  t.equal(sinceText({ ...workspace, activity_privacy_since: workspace.created_at }), '', 'it never changed')
})
