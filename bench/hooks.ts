/** Which hooks run on every request, for `GET /api/settings/:owner/:repo` as an example, and what Fastify is decorated with. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import pino from 'pino'
import { buildApp } from '../src/app.js'
import { readConfig } from '../src/config.js'
import { connect } from '../src/platform/database/client.js'
import { migrate } from '../src/platform/database/migrate.js'
import { createMeter } from '../src/platform/metrics/meter.js'
import { projectRoot } from '../src/platform/process/root.js'
import { benchmark, JWT_SECRETS, say, startDatabase } from './harness.js'

const KINDS = [
  'onRequest',
  'preParsing',
  'preValidation',
  'preHandler',
  'preSerialization',
  'onSend',
  'onResponse',
]

/** The hooks of the route that answers a request, by their kind. */
const hooksOf = async (app: FastifyInstance, url: string) => {
  const found: Record<string, { name: string }[] | null> = {}
  app.addHook('onResponse', async function counting(request) {
    const context = Object.getOwnPropertySymbols(request).find((it) => it.description === 'fastify.context')
    const hooks = (request as unknown as Record<symbol, typeof found>)[context as symbol] ?? {}
    for (const kind of KINDS)
      found[kind] = (hooks[kind] ?? []).filter(({ name }) => !name.endsWith('counting'))
  })
  await app.inject({ url })
  return found
}

await benchmark(async (cleanUp) => {
  const { url, stop } = await startDatabase()
  cleanUp(stop)
  await migrate(url)
  const config = readConfig({ DATABASE_URL: url, JWT_SECRETS, METRICS_PORT: '9464' })
  const meter = createMeter(true)
  const database = connect({ url, poolSize: 8, prepare: true, meter })
  cleanUp(() => database.close())
  const app = await buildApp(config, database, pino({ level: 'silent' }), { meter })
  cleanUp(() => app.close())
  const hooks = await hooksOf(app, '/api/settings/acme/web')
  for (const kind of KINDS) say(`${String(hooks[kind]?.length ?? 0).padStart(8)}  hooks ${kind}`)
  const all = Object.values(hooks).reduce((total, some) => total + (some?.length ?? 0), 0)
  say(`${String(all).padStart(8)}  hooks on the request, those of libraries included`)

  const files = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
  const names = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      [
        ...readFileSync(join(projectRoot, 'src', file), 'utf8').matchAll(
          /\.decorate(?:Request|Reply)?\(\s*'(\w+)'/g,
        ),
      ].map(([, name]) => name),
    )
  say(`${String(new Set(names).size).padStart(8)}  decorations: ${[...new Set(names)].sort().join(', ')}`)
})
