/** One person isn't a group, however many accounts they had. */
import t, { type Test } from 'tap'
import { readToday } from '../src/platform/time/clock.js'
import { addDays, mondayOf } from '../src/platform/time/days.js'
import { hasProperties } from './has-properties.js'
import { type Caller, startTeam } from './service.js'

const GROUP = 5

const flush = async (caller: Caller, repo: string, day: string, hours: Record<number, number>) => {
  const minutes = Object.values(hours).reduce((sum, one) => sum + one, 0)
  const { body } = await caller.post('/api/team/active-minutes', { entries: [{ repo, day, minutes, hours }] })
  t.same([body.ignored, body.capped], [0, 0])
}

/** A team of ada and bob, whose accomplice signs in, joins, works a minute and deletes the account, again and again. */
const attack = async (t: Test, day: (today: string) => string) => {
  const team = await startTeam(t, 'bob')
  const { service, bob, code } = team
  const on = day(await readToday(service.database))
  await flush(bob, 'acme/api', on, { 9: 37, 14: 11 })
  const accomplices: Caller[] = []
  const comeBack = async () => {
    const accomplice = await service.signIn('mallory')
    await accomplice.post('/api/team/workspaces/join', { code })
    await flush(accomplice, 'acme/api', on, { 9: 1 })
    accomplices.push(accomplice)
    return accomplice
  }
  const first = await comeBack()
  await service.app.jobs.rollups.run()
  const deleteAccount = async (accomplice: Caller) =>
    t.equal((await accomplice.request('DELETE', '/api/me', { body: { confirm: 'mallory' } })).status, 200)
  await deleteAccount(first)
  for (let account = 1; account < GROUP; account++) await deleteAccount(await comeBack())
  t.equal(new Set(accomplices.map(({ token }) => token)).size, GROUP, 'each time as a new account')
  t.equal(new Set(accomplices.map(({ repohostId }) => repohostId)).size, 1, 'of one person')
  const ticks: [string, () => Promise<unknown>][] = [
    ['at once', async () => {}],
    ['after a rollup', () => service.app.jobs.rollups.run()],
    ['after the erasures', () => service.app.jobs.erasures.run()],
    ['after another rollup', () => service.app.jobs.rollups.run()],
  ]
  return { ...team, on, ticks }
}

t.test('deleted accounts show no hours of a colleague by name', async (t) => {
  const { ada, id, on, ticks } = await attack(t, (today) => addDays(today, -1))
  for (const [when, tick] of ticks) {
    await tick()
    for (const query of ['', '&repo=acme/api']) {
      const { body } = await ada.get(`/api/team/dashboard?workspace=${id}&from=${on}&to=${on}${query}`)
      hasProperties(
        t,
        body,
        {
          heatmap: null,
          totals: { active_minutes: 53, active_members: 1 },
          daily: [{ day: on, active_minutes: 53, active_members: 1 }],
          repos: [{ active_minutes: 53, members: 1 }],
        },
        `${when}${query}`,
      )
    }
    const next = addDays(on, 1)
    const later = await ada.get(`/api/team/dashboard?workspace=${id}&from=${next}&to=${next}`)
    t.equal(later.body.previous_totals.active_members, 1, `${when}, compared with`)
  }
})

t.test('deleted accounts publish no week of a colleague', async (t) => {
  const { service, ada, id, on, ticks } = await attack(t, (today) => mondayOf(addDays(today, -10)))
  await ada.patch(`/api/team/workspaces/${id}/settings`, { activity_privacy: 'team' })
  for (const [when, tick] of ticks) {
    await tick()
    await service.app.jobs.publishedWeeks.run()
    for (const query of ['', '&repo=acme/api']) {
      const { body } = await ada.get(`/api/team/dashboard?workspace=${id}&from=${on}&to=${on}${query}`)
      t.equal(body.totals.active_minutes, null, `${when}${query}`)
      t.equal(body.heatmap, null, `${when}${query}`)
    }
  }
})

t.test('who comes back counts once, and an erasure changes no number of others', async (t) => {
  const { service, ada, id, code, on, ticks } = await attack(t, (today) => addDays(today, -1))
  const others = await service.signInAll('mallory', 'cleo', 'dan', 'eve')
  for (const other of others) {
    await other.post('/api/team/workspaces/join', { code })
    await flush(other, 'acme/api', on, { 9: 10 })
  }
  for (const [when, tick] of ticks) {
    await tick()
    const seen = await ada.get(`/api/team/dashboard?workspace=${id}&from=${on}&to=${on}`)
    hasProperties(t, seen.body, { totals: { active_members: 5 }, daily: [{ active_members: 5 }] }, when)
    t.equal(seen.body.heatmap?.length, 168, `${when}: five others than ada`)
  }
})
