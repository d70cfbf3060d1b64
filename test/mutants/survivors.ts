/** Mutants that may survive, by module and by the reason why no caller sees the change. */
export const survivors: Record<string, Record<string, string[]>> = {
  caps: {
    'Schemas reject hours above 23, and there is nothing to cut in them.': [
      'hour < HOURS → hour <= HOURS',
      'HOURS - 1 → HOURS + 1',
    ],
  },
  zones: {
    'Remembering formatters only saves time.': [
      'known → false',
      'formats.size >= REMEMBERED → true',
      'formats.size >= REMEMBERED → false',
      'formats.size >= REMEMBERED → formats.size > REMEMBERED',
      'formats.size >= REMEMBERED → formats.size < REMEMBERED',
    ],
    'Both are the same then. The check only saves time.': ['earlier === later → false'],
  },
  'local-days': {
    'No zone has such a long name. The check only saves time.': [
      'given.length <= TIMEZONE_LENGTH → true',
      'given.length <= TIMEZONE_LENGTH → given.length < TIMEZONE_LENGTH',
    ],
    'The fallback after it is UTC, too.': [`'UTC' → ""`],
    'There are no minutes in hour 24.': ['hour < HOURS → hour <= HOURS'],
  },
  'choose-days': {
    '`isDay` rejects undefined too. The compiler needs the check.': ['day !== undefined → true'],
  },
  timeline: {
    'Both arrays are empty, and nothing reads their length.': ['new Array(MINUTES) → new Array()'],
    '`filter` skips holes anyway.': ['at !== undefined → true'],
    'Stored lists have the same length, and a text without a 1 has no minutes.': [
      '\'\' → "Stryker was here!"',
      '[] → ["Stryker was here"]',
      'countedFor?.[index] → countedFor[index]',
    ],
    'Without a neighbor, there are no minutes in between.': [
      'earlier === undefined → false',
      'earlier !== undefined → true',
      'later !== undefined → true',
    ],
    'No mark is in minute 60.': ['index < MINUTES → index <= MINUTES'],
  },
  'published-week': {
    'A test counts the pauses of all loops together, and these are few of them.': [
      'index % PACE === 0 → false',
      'index % PACE → index * PACE',
    ],
    'The compiler needs `?`. Each key has its sum and its people.': [
      'people.get(key)?.size → people.get(key).size',
      'ofCells.get(cell)?.sum → ofCells.get(cell).sum',
    ],
    'Any key will do, as there is only one group.': ['() => 0 → () => undefined'],
  },
  'choose-shown': {
    'No two keys are equal.': ['a < b → a <= b'],
    'Where days are shown, a day without shown cells has enough people.': ['[] → ["Stryker was here"]'],
    'Without shown cells, the next round ends the loop.': ['shown.size > 0 → shown.size >= 0'],
  },
  amounts: {
    'A test counts the pauses of all loops together, and these are few of them.': [
      'index % PACE === 0 → false',
      'index % PACE → index * PACE',
    ],
  },
  'repo-pattern': {
    '`patterns.test.ts` runs this SQL.': [
      `(ownerKey) => \`replace(\${ownerKey}, '/', ':')\` → () => undefined`,
      `\`replace(\${ownerKey}, '/', ':')\` → \`\``,
    ],
  },
  'settings-merge': {
    'Without locks, the copy equals the override. The check only saves time.': [
      'locked.length === 0 → false',
    ],
  },
}
