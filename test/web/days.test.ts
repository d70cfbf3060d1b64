import t from 'tap'
import { dayAt } from '../../src/platform/time/zones.js'
import { bundle, load } from '../bundle.js'

interface Functions {
  today: () => string
}

t.test('today is the date on the viewer’s clock', async (t) => {
  const { today } = (await load(t, await bundle('web/format.ts'))) as Functions
  const { TZ } = process.env
  t.teardown(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kolkata', 'America/New_York', 'UTC']) {
    process.env.TZ = zone
    // Midnight may pass between the two.
    const before = dayAt(zone, Date.now())
    const shown = today()
    t.ok(shown === before || shown === dayAt(zone, Date.now()), zone)
  }
})
