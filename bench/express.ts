/**
 * A peer of `GET /settings`: Express, pg, jsonwebtoken and zod as a careful team would tune them. One named statement finds the
 * caller's best snapshot, its text goes out as it is stored, and the secret is a `KeyObject`. It has no log, no limits and no
 * metrics.
 */
import { createSecretKey } from 'node:crypto'
import express from 'express'
import jwt from 'jsonwebtoken'
import pg from 'pg'
import { z } from 'zod'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? '', max: 10 })
const secret = createSecretKey(Buffer.from(process.env.JWT_SECRETS ?? ''))
const Params = z.object({ owner: z.string().min(1).max(100), repo: z.string().min(1).max(100) })
const FIND = {
  name: 'find the best snapshot',
  text: `
    select s.owner, s.repo, s.workspace_id, s.settings, s.version, s.size_bytes, s.updated_at, u.login as updated_by
    from members m
    join patterns p on p.workspace_id = m.workspace_id and p.owner_key = $2 and $3 like p.repo_like
    join snapshots s on s.workspace_id = m.workspace_id and s.owner_key = $2 and s.repo_key = $3
    join users u on u.id = s.updated_by
    where m.user_id = $1
    order by m.role, p.exact desc, p.literal_length desc, s.workspace_id
    limit 1`,
}

interface Request {
  headers: Record<string, string | undefined>
  params: unknown
}
interface Response {
  status(code: number): Response
  set(name: string, value: string): Response
  type(name: string): Response
  json(body: object): void
  send(text: string): void
}

const app = express()
app.disable('x-powered-by')
app.set('etag', false)
app.get('/health', (_request: Request, response: Response) => {
  response.send('ok')
})
app.get('/api/settings/:owner/:repo', async (request: Request, response: Response) => {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
  const { sub } = jwt.verify(token, secret, { algorithms: ['HS256'] }) as { sub: string }
  const { owner, repo } = Params.parse(request.params)
  const { rows } = await pool.query({ ...FIND, values: [sub, owner, repo] })
  const [row] = rows
  if (!row) {
    response.status(404).json({ code: 'settings_not_found' })
    return
  }
  const { settings, ...others } = row
  response.set('ETag', `"${others.version}"`)
  response.type('application/json').send(`${JSON.stringify(others).slice(0, -1)},"settings":${settings}}`)
})
process.on('SIGTERM', () => process.exit(0))
app.listen(Number(process.env.PORT), '127.0.0.1')
