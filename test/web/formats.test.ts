/** How the dashboard writes numbers, days and times for people in many countries. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { bundle } from '../bundle.js'
import { temporaryFolder } from '../process.js'

const execute = promisify(execFile)

/** Prints what the functions return. The range has no year while it is in the current one. */
const PROGRAM = `
  import * as format from './format.mjs'
  const { today, count, short, people, counted, duration, percent, changeText, bytes } = format
  const { day, month, weekdayAndDay, fullDay, time, days, shortDays, dayOf, weekdays, longWeekdays } = format
  const year = today().slice(0, 4)
  console.log(JSON.stringify({
    locale: Intl.DateTimeFormat().resolvedOptions().locale,
    range: shortDays(year + '-03-02', year + '-04-03'),
    earlier: shortDays('2020-12-30', '2021-01-02'),
    day: fullDay('2026-03-02'),
    moment: time('2026-03-02T22:05:00Z'),
    dayOf: dayOf('2026-03-02T22:05:00Z'),
    count: count(1234567),
    percent: percent(0.25),
    /** Only their alphabet is checked. */
    others: [
      short(12345), people(2), counted(1234, 'commit'), duration(605), duration(123456), bytes(12345678),
      changeText(-0.11), changeText(0.5), changeText(20), changeText(Infinity), count(null),
      day('2026-03-02'), month('2026-03-02'), weekdayAndDay('2026-03-02'), days('2026-03-02', '2026-04-03'),
      ...weekdays(), ...longWeekdays(),
    ],
  }))`

const AUCKLAND = 'Pacific/Auckland'
const LOS_ANGELES = 'America/Los_Angeles'
/** 11 in the morning on the third, and two in the afternoon on the second. */
const cases: [locale: string, zone: string, moment: string, numbers: [count: string, percent: string]][] = [
  ['de', AUCKLAND, '3 Mar 2026, 11:05', ['1.234.567', '25 %']],
  ['de', LOS_ANGELES, '2 Mar 2026, 14:05', ['1.234.567', '25 %']],
  ['fr', AUCKLAND, '3 Mar 2026, 11:05', ['1 234 567', '25 %']],
  ['fr', LOS_ANGELES, '2 Mar 2026, 14:05', ['1 234 567', '25 %']],
  ['ja', AUCKLAND, 'Mar 3, 2026, 11:05', ['1,234,567', '25%']],
  ['ja', LOS_ANGELES, 'Mar 2, 2026, 14:05', ['1,234,567', '25%']],
  ['ar', AUCKLAND, '3 Mar 2026, 11:05 am', ['1,234,567', '25%']],
  ['ar-EG', LOS_ANGELES, '2 Mar 2026, 2:05 pm', ['1,234,567', '25%']],
]

t.test('texts are English, with the viewer’s date order, clock and separators', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'format.mjs'), await bundle('web/format.ts'))
  await writeFile(join(folder, 'program.mjs'), PROGRAM)
  for (const [locale, zone, moment, [count, percent]] of cases) {
    const env = { PATH: process.env.PATH, LC_ALL: locale, TZ: zone }
    const { stdout } = await execute(process.execPath, [join(folder, 'program.mjs')], { env })
    const { others: _, ...written } = JSON.parse(stdout.replace(/[\u00a0\u2009\u202f]/g, ' '))
    const isMonthFirst = locale === 'ja'
    t.strictSame(
      written,
      {
        locale,
        range: isMonthFirst ? 'Mar 2 – Apr 3' : '2 Mar – 3 Apr',
        earlier: isMonthFirst ? 'Dec 30, 2020 – Jan 2, 2021' : '30 Dec 2020 – 2 Jan 2021',
        day: isMonthFirst ? 'Mon, Mar 2, 2026' : 'Mon, 2 Mar 2026',
        moment,
        // The day on the viewer's clock.
        dayOf: `${zone === AUCKLAND ? 'Tue' : 'Mon'}, ${moment.replace(/, [^,]*$/, '')}`,
        count,
        percent,
      },
      `${locale} ${zone}`,
    )
    t.notMatch(stdout, /[^\p{ASCII}\p{P}\p{Zs}×↑↓−]/u, `${locale} ${zone}: no foreign letter or digit`)
  }
})
