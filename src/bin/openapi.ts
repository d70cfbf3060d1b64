/** Writes the OpenAPI documents into `openapi/`, or into the folder that is its argument. Needs no database. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildApp } from '../app.js'
import { readConfig } from '../config.js'
import type { Database } from '../platform/database/client.js'
import { buildDocuments } from '../platform/openapi/index.js'
import { runCommand } from '../platform/process/program.js'
import { projectRoot } from '../platform/process/root.js'

/** At startup, the app reads only revocations. */
const read = { select: () => ({ from: () => ({ where: async () => [] }) }), rows: async () => [{}] }
const database = { read, reserved: read } as unknown as Database

runCommand(async () => {
  const [folder = join(projectRoot, 'openapi')] = process.argv.slice(2)
  const config = readConfig({ JWT_SECRETS: 'only-here-so-that-the-service-can-be-built' })
  const app = await buildApp(config, database, pino({ level: 'silent' }))
  await app.ready()
  const { full, core } = buildDocuments(app)
  for (const [name, document] of Object.entries({ openapi: full, 'openapi.core': core })) {
    await writeFile(join(folder, `${name}.json`), `${JSON.stringify(document, null, 2)}\n`)
  }
  await app.close()
})
