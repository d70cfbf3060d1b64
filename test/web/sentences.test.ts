/** Sentences and controls that say what numbers mean, and what an action does. */
import t from 'tap'
import { addDays } from '../../src/platform/time/days.js'
import { loadOfPage } from '../bundle.js'
import { countOf, startScene } from './page.js'

t.test('everyone in a table has letters of their own', async (t) => {
  const { lettersOf } = (await loadOfPage(t, 'web/ui.tsx')) as {
    lettersOf: (logins: string[]) => Map<string, string>
  }
  const logins = ['bob', ...Array.from({ length: 300 }, (_, index) => `anna-${index}`)]
  const letters = lettersOf(logins)
  t.equal(letters.get('bob'), 'BO')
  t.equal(letters.get('anna-0'), 'AN')
  t.equal(lettersOf(['x']).get('x'), 'X')
  t.equal(new Set(logins.map((login) => letters.get(login))).size, logins.length)
})

const scene = await startScene(t, { env: { EXTENSION_PREFIX: 'ext' } })
const today = new Date().toISOString().slice(0, 10)

if (typeof scene === 'string') t.test('sentences say what numbers mean', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  const flush = (day: string, minutes: number) =>
    ada.post('/api/team/active-minutes', {
      entries: [{ repo: 'acme/web', day, minutes, hours: { '9': minutes } }],
      timezone: 'UTC',
    })
  await flush(addDays(today, -3), 40)
  await flush(addDays(today, -10), 20)
  const admin = await visit(ada, { timezoneId: 'UTC', own: true })
  const { page } = admin

  t.test('a heatmap shows sums, averages from two weeks on, and isn’t there without hours', async (t) => {
    const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(
      new Date(addDays(today, -3)),
    )
    await admin.open(`/w/${id}/me?from=${addDays(today, -3)}&to=${addDays(today, -2)}`)
    await admin.sees(`Busiest hour: ${weekday} 09:00, 40 min`)
    await admin.go(`/w/${id}/me?from=${addDays(today, -13)}&to=${today}`)
    await admin.sees(`Busiest hour: ${weekday} 09:00, on average 30 min`)
    await admin.go(`/w/${id}/me?from=${addDays(today, -2)}&to=${addDays(today, -2)}`)
    await admin.sees('My active time by day')
    t.equal(await countOf(admin.heading('My working hours'), 0), 0)
    await admin.open(`/w/${id}?from=${addDays(today, -13)}&to=${today}`)
    await admin.sees('Hours are shown for days with at least 5 active people besides you.')
    await admin.open(`/w/${id}?member=bob`)
    await admin.sees('Active time by day')
    t.equal(await page.locator('.figure', { hasText: 'Active people' }).count(), 0)
    t.strictSame(admin.complaints, [])
  })

  t.test('a person deletes the time of a day, and the page says how much it was', async (t) => {
    const day = addDays(today, -10)
    await admin.open(`/w/${id}/me?from=${day}&to=${day}`)
    await admin.button('Delete time of this day…').click()
    const dialog = page.getByRole('dialog', { name: 'Delete time of a day?' })
    t.equal(await dialog.getByLabel('Day', { exact: true }).inputValue(), day)
    t.strictSame(await admin.violations('dialog'), [])
    await dialog.getByRole('button', { name: 'Delete time', exact: true }).click()
    await admin.sees(/^20 min of \w{3}, .* deleted$/)
    const { body } = await ada.get(`/api/team/dashboard/mine?workspace=${id}&from=${day}&to=${today}`)
    t.equal(body.totals.active_minutes, 40, 'other days stay')
    t.strictSame(admin.complaints, [])
  })

  t.test('a deleted account ends on a page that says so', async (t) => {
    const eve = await visit(await service.signIn('eve'))
    await eve.open('/account/privacy')
    await eve.button('Delete my account').click()
    await eve.page.getByRole('textbox', { name: /^Type eve/ }).fill('eve')
    await eve.button('Delete account').click()
    await eve.sees(
      'Your account is deleted, and you’re signed out everywhere. If you sign in again, you get a new account.',
    )
    t.strictSame(eve.complaints, [])
  })

  t.test('a key of a prefix that isn’t shared says so, and who can change it', async (t) => {
    await admin.open(`/w/${id}/settings`)
    await page.locator('.cm-editor').waitFor()
    await page.getByRole('textbox', { name: 'Editor settings (JSON)' }).fill('{ "editor.tabSize": 2 }')
    await admin.sees('This server doesn’t share editor settings yet. Its operator can add “editor”.')
    await page.getByRole('textbox', { name: 'Editor settings (JSON)' }).fill('{ "ext.tabSize": 2 }')
    await admin.sees('Applies to 2 people in 1 repository.')
    await admin.button('Discard changes').click()
    await admin.sees('Nothing to review yet')
    t.strictSame(admin.complaints, [])
  })
}
