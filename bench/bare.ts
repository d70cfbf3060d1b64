/** The limit for settings: Fastify with one prepared point-select. */
import Fastify from 'fastify'
import postgres from 'postgres'

const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10, onnotice: () => {} })
const app = Fastify()
app.get('/health', async () => 'ok')
app.get('/:owner/:repo', async (request, reply) => {
  const { owner, repo } = request.params as { owner: string; repo: string }
  const [row] = await sql`select settings from snapshots where owner_key = ${owner} and repo_key = ${repo}`
  reply.type('application/json; charset=utf-8')
  return row?.settings
})
process.on('SIGTERM', () => process.exit(0))
await app.listen({ port: Number(process.env.PORT) })
