/** Databases of every release, filled and read by the release itself (`test/released/write.ts`), under this version. */
import { createHmac } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { restore } from '../src/operator/backup/restore.js'
import { migrate } from '../src/platform/database/migrate.js'
import { projectRoot } from '../src/platform/process/root.js'
import { emptyDatabase, readReleased, releasedDatabase } from './migrated.js'
import { ADMIN_KEY, ask, type ReleaseRecord, readStable } from './released/record.js'
import { JWT_SECRET, startService } from './service.js'

const folder = join(projectRoot, 'test/released')

/** The same token, signed today: what is kept was signed for 30 days. */
const signedToday = (token: string) => {
  const [head = '', payload = ''] = token.split('.')
  const iat = Math.floor(Date.now() / 1_000)
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), iat, exp: iat + 2_592_000 }
  const signed = `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
  return `${signed}.${createHmac('sha256', JWT_SECRET).update(signed).digest('base64url')}`
}

/** An answer without the members that the release did not have. */
const known = (now: unknown, then: unknown): unknown => {
  if (Array.isArray(now) && Array.isArray(then)) return now.map((item, n) => known(item, then[n]))
  if (now === null || then === null || typeof now !== 'object' || typeof then !== 'object') return now
  const members = Object.entries(now).filter(([name]) => name in then)
  return Object.fromEntries(members.map(([name, value]) => [name, known(value, then[name as never])]))
}

interface ListedProjects {
  projects: { synced: boolean; has_override: boolean; has_activity?: boolean }[]
}

/** The repositories that releases listed that did not know which have activity. */
const withoutActive = ({ projects, ...page }: ListedProjects, then: ListedProjects): ListedProjects => ({
  ...page,
  projects: then.projects.some((project) => 'has_activity' in project)
    ? projects
    : projects.filter(({ synced, has_override }) => synced || has_override),
})

/** A database with what is kept in a file: what `pg_dump` wrote, or a backup. */
const upgrade = async (t: Test, file: string) => {
  const { url, sql } = file.endsWith('.sql.gz')
    ? await releasedDatabase(t, file.replace('.sql.gz', ''))
    : await emptyDatabase(t)
  if (file.endsWith('.sql.gz')) await migrate(url)
  else await restore(url, join(folder, file), () => {}, new AbortController().signal)
  // All that ends by itself within the months that files are kept.
  await sql`update invites set expires_at = now() + interval '1 day'`
  return url
}

interface Cell {
  weekday: number
  hour: number
  minutes: number
}

/** The heatmap of a team, as releases showed it that left no one's hours out: what each person sees of their own, added up. */
const addUpOwn = async (url: string, tokens: string[], path: string): Promise<Cell[]> => {
  const own = path.replace('/dashboard?', '/dashboard/mine?')
  const answers = await Promise.all(tokens.map((token) => readStable(url, token, own)))
  const heatmaps = answers.flatMap(({ status, body }) =>
    status === 200 ? [(body as { heatmap: Cell[] }).heatmap] : [],
  )
  return (heatmaps[0] ?? []).map((cell, index) => ({
    ...cell,
    minutes: heatmaps.reduce((sum, heatmap) => sum + (heatmap[index]?.minutes ?? 0), 0),
  }))
}

/** This one remembered what a flush said in another way than all others. */
const OTHER_HASH = '0001_pack_rollups'

const files = (await readdir(folder)).filter((name) => /\.(sql|backup)\.gz$/.test(name)).sort()

for (const file of files) {
  const [release = ''] = file.split('.')
  t.test(`the data of ${file} gets the same answers as then`, async (t) => {
    const { people, answers, flush, invite }: ReleaseRecord = JSON.parse(
      await readReleased(`${release}.json.gz`),
    )
    const env = { DATABASE_URL: await upgrade(t, file), ADMIN_KEYS: ADMIN_KEY }
    const { url } = await startService(t, { env })
    const tokenOf = (login: string) => people[login] && signedToday(people[login].token)

    const tokens = Object.keys(people).flatMap((login) => tokenOf(login) ?? [])
    for (const { login, path, status, body } of answers) {
      const now = await readStable(url, tokenOf(login), path)
      if (path === '/projects' && status === 200)
        Object.assign(now.body as object, withoutActive(now.body as ListedProjects, body as ListedProjects))
      const isOfTeam = path.startsWith('/team/dashboard?') && !path.includes('member=')
      if (isOfTeam && (body as { heatmap?: Cell[] | null }).heatmap)
        Object.assign(now.body as object, { heatmap: await addUpOwn(url, tokens, path) })
      t.strictSame({ ...now, body: known(now.body, body) }, { status, body }, `${login} ${path}`)
    }
    const again = await ask(url, tokenOf(flush.login), 'POST', '/team/active-minutes', flush.body)
    const expected =
      release === OTHER_HASH ? { code: 'flush_id_reused' } : { ...flush.answer, duplicate: true }
    t.hasStrict(again.body, expected, 'a flush that is sent again does not count again')
    const joined = await ask(url, tokenOf('gus'), 'POST', '/team/workspaces/join', { code: invite.code })
    t.hasStrict(joined, { status: 200, body: { workspace: { id: invite.workspace, role: 'admin' } } })
  })
}
