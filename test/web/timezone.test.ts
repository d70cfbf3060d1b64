/** The time zone under Profile. */
import t from 'tap'
import type { Caller } from '../service.js'
import { until } from '../until.js'
import { startScene } from './page.js'

const scene = await startScene(t)

if (typeof scene === 'string') t.test('people choose their time zone', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const zoneOf = async (caller: Caller) => {
    const { timezone, timezone_chosen } = (await caller.get('/api/me')).body
    return `${timezone} ${timezone_chosen}`
  }

  t.test('the page names the browser’s zone if none is known, and a choice can be given back', async (t) => {
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada)
    const visitor = await visit(ada, { timezoneId: 'Asia/Tokyo', own: true })
    await visitor.open(`/w/${id}/me`)
    await until(async () => (await zoneOf(ada)) === 'Asia/Tokyo false', 'the page names the zone')

    await visitor.open('/account')
    const { page } = visitor
    await page.getByText('Asia/Tokyo, named by this browser or an editor, the last one that did.').waitFor()
    await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Europe/Berlin')
    await page.getByRole('button', { name: 'Save time zone' }).click()
    await page.getByText('Europe/Berlin, chosen by you.').waitFor()
    t.equal(await zoneOf(ada), 'Europe/Berlin true')
    await page.getByRole('button', { name: 'Let my editors set it' }).click()
    await page
      .getByText('Europe/Berlin, named by an editor or another browser, the last one that did.')
      .waitFor()
    t.equal(await zoneOf(ada), 'Europe/Berlin false')
    t.strictSame(visitor.complaints, [])
  })
}
