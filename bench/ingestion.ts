/** Flushes of 200 entries through HTTP, beside pgbench (Debian: postgresql-contrib) running the same statements. */
import { randomUUID } from 'node:crypto'
import { addDays } from '../src/domain/days.js'
import { LOCK_MATCHES, READ_MINUTES, readToday, WRITE_FLUSH } from '../src/queries/activity.js'
import { expectOk, median, perSecond, pgbench, say, send, withService } from './harness.js'

const CLIENTS = 8
const SECONDS = 5
const ROUNDS = 3
const REPOS = 20
const DAYS = 10

/** `$1` … of a statement as SQL literals. */
const fill = (text: string, values: string[]) =>
  `${text.replace(/\$([0-9]+)/g, (_, number) => values[Number(number) - 1] ?? 'null').replaceAll(/\s+/g, ' ')};`
const textArray = (values: unknown[]) => `'{${values.map((value) => `"${value}"`).join()}}'`

await withService(async ({ url, database, databaseUrl, signIn }) => {
  const callers = await Promise.all(Array.from({ length: CLIENTS }, (_, index) => signIn(`bench-${index}`)))
  const created = await expectCreated(url, callers[0]?.token ?? '')
  for (const { token } of callers.slice(1)) {
    await expectOk(send(url, 'POST', '/api/team/workspaces/join', token, { code: created.code }))
  }
  const today = await readToday(database)
  const rows = Array.from({ length: REPOS * DAYS }, (_, index) => ({
    repo: `acme/repo-${index % REPOS}`,
    day: addDays(today, -Math.floor(index / REPOS)),
  }))
  const entries = JSON.stringify(rows.map((row) => ({ ...row, minutes: 3, hours: { 9: 1, 10: 2 } })))

  const repos = rows.slice(0, REPOS).map(({ repo }) => repo.split('/'))
  const users = `(${textArray(callers.map(({ id }) => id))}::text[])[:client_id + 1]::uuid`
  const script = [
    `\\set turn random(1, 9000000000000000)`,
    'begin;',
    `insert into flushes (user_id, flush_id, body_hash) values (${users}, :turn::text, 'x') on conflict do nothing returning flush_id;`,
    fill(LOCK_MATCHES, [
      users,
      textArray(repos.map(([owner]) => owner)),
      textArray(repos.map(([, repo]) => repo)),
    ]),
    fill(READ_MINUTES, [users, textArray([created.id]), textArray([...new Set(rows.map(({ day }) => day))])]),
    fill(WRITE_FLUSH, [
      users,
      textArray(rows.map(() => created.id)),
      textArray(rows.map(({ day }) => day)),
      textArray(rows.map(({ repo }) => repo)),
      textArray(rows.map(() => 3)),
      textArray(rows.map(() => `${'00'.repeat(9)}0102${'00'.repeat(13)}`)),
      'null',
      ':turn::text',
      `'{}'`,
    ]),
    'commit;',
  ].join('\n')

  const ratios: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const http = await perSecond(CLIENTS, SECONDS, (client) =>
      expectOk(
        send(
          url,
          'POST',
          '/api/team/active-minutes',
          callers[client]?.token,
          `{"flush_id":"${randomUUID()}","entries":${entries}}`,
        ),
      ),
    )
    const limit = await pgbench(databaseUrl, script, CLIENTS, SECONDS)
    if (round === 0) continue
    if (limit !== undefined) ratios.push(http / limit)
    say(
      `${http.toFixed(0)} flushes/s through HTTP (${(http * rows.length).toFixed(0)} entries/s), ${limit?.toFixed(0) ?? 'no pgbench, no'} by pgbench`,
    )
  }
  if (ratios.length > 0) say(`${median(ratios).toFixed(2)} of pgbench`)
})

async function expectCreated(url: string, token: string): Promise<{ id: string; code: string }> {
  const body = { name: 'Bench', patterns: ['acme/*'] }
  const { status, text } = await send(url, 'POST', '/api/team/workspaces/create', token, body)
  if (status !== 201) throw new Error(text)
  const { workspace, invite } = JSON.parse(text)
  return { id: workspace.id, code: invite.code }
}
