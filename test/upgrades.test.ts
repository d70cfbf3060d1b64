/** Databases and backups of releases, filled and read by the release itself (`test/released/write.ts`), under this version. */
import { createHmac } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { restore } from '../src/operator/backup/restore.js'
import { projectRoot } from '../src/platform/process/root.js'
import { upgrade } from '../src/upgrade.js'
import { emptyDatabase, readReleased, releasedDatabase } from './migrated.js'
import { JWT_SECRET } from './process.js'
import { ADMIN_KEY, ask, type ReleaseRecord, readStable } from './released/record.js'
import { startService } from './service.js'

const folder = join(projectRoot, 'test/released')

/** Signs a token's claims again today, because stored tokens expire after 30 days. */
const signedToday = (token: string) => {
  const [head = '', payload = ''] = token.split('.')
  const iat = Math.floor(Date.now() / 1_000)
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), iat, exp: iat + 2_592_000 }
  const signed = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`
}

/** A response without the members that the release didn't have. */
const known = (now: unknown, then: unknown): unknown => {
  if (Array.isArray(now) && Array.isArray(then)) return now.map((item, n) => known(item, then[n]))
  if (now === null || then === null || typeof now !== 'object' || typeof then !== 'object') return now
  const members = Object.entries(now).filter(([name]) => name in then)
  return Object.fromEntries(members.map(([name, value]) => [name, known(value, then[name as never])]))
}

/** A database with what is kept in a file: what `pg_dump` wrote, or a backup. */
const upgraded = async (t: Test, file: string) => {
  const { url, sql } = file.endsWith('.sql.gz')
    ? await releasedDatabase(t, file.replace('.sql.gz', ''))
    : await emptyDatabase(t)
  if (!file.endsWith('.sql.gz'))
    await restore(url, join(folder, file), () => {}, new AbortController().signal, { keepSessions: true })
  await upgrade({ url, prepare: true })
  // All that ends by itself within the months that files are kept.
  await sql`update invites set expires_at = now() + interval '1 day'`
  return url
}

/** Responses with days of bob, who lives in Tokyo: his last hours of a UTC day are on the next day (`previous.test.ts`). */
const MOVED = [
  /^bob \/me\/export$/,
  /^bob \/team\/workspaces\/[^/]+\/members$/,
  /^ada \/team\/dashboard\?workspace=[^&]+&from=2026-10-26&to=2026-11-23(&repo=acme\/api|&trends=true|&format=csv)?$/,
]

const files = (await readdir(folder)).filter((name) => /\.(sql|backup)\.gz$/.test(name)).sort()

for (const file of files) {
  const [release = ''] = file.split('.')
  t.test(`data from ${file} gets the same responses as before`, async (t) => {
    const {
      people,
      answers: responses,
      flush,
      invite,
    }: ReleaseRecord = JSON.parse(await readReleased(`${release}.json.gz`))
    const env = { DATABASE_URL: await upgraded(t, file), ADMIN_KEYS: ADMIN_KEY }
    const { url } = await startService(t, { env })
    const tokenOf = (login: string) => people[login] && signedToday(people[login].token)

    for (const { login, path, status, body } of responses) {
      // The release needed a workspace.
      if (status === 400 && path.startsWith('/team/dashboard/mine?from=')) continue
      // Two erasures are under way, and take people out of the funnel at any moment.
      if (path === '/admin/funnel') continue
      const now = await readStable(url, tokenOf(login), path)
      if (MOVED.some((moved) => moved.test(`${login} ${path}`))) {
        const totalsOf = (one: unknown) => (one as { totals?: unknown }).totals
        t.strictSame([now.status, totalsOf(now.body)], [status, totalsOf(body)], `${login} ${path}`)
        continue
      }
      t.strictSame({ ...now, body: known(now.body, body) }, { status, body }, `${login} ${path}`)
    }
    const again = await ask(url, tokenOf(flush.login), 'POST', '/team/active-minutes', flush.body)
    t.hasStrict(
      again.body,
      { ...flush.answer, duplicate: true },
      'a flush that is sent again does not count again',
    )
    const joined = await ask(url, tokenOf('gus'), 'POST', '/team/workspaces/join', { code: invite.code })
    t.hasStrict(joined, { status: 200, body: { workspace: { id: invite.workspace, role: 'admin' } } })
  })
}

t.test('a release’s backup can be restored over its upgraded database', async (t) => {
  const file = files.find((name) => name.endsWith('.backup.gz')) ?? ''
  const url = await upgraded(t, file)
  const replaced = new URL(url).pathname.slice(1)
  const { signal } = new AbortController()
  const { manifest } = await restore(url, join(folder, file), () => {}, signal, { replaced })
  t.equal(manifest.version, '1.0.0')
})
