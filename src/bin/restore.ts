/** Puts a backup into an empty database. */
import { restore } from '../backup/restore.js'
import { readConfig } from '../config.js'
import { createEmbedded } from '../db/embedded/visit.js'
import { onGivenDatabase } from '../db/given.js'
import { readArguments } from '../runtime/arguments.js'
import { atEnd, runCommand } from '../runtime/program.js'

const USAGE = `npm run restore -- FILE

  Puts what \`npm run backup\` wrote into an empty database: all of it, or nothing.
  DATABASE_URL says which; without it, it is the embedded one in DATA_DIR, which must be new.
`

const say = (line: string) => process.stdout.write(`${line}\n`)

runCommand(async (stopped) => {
  const given = readArguments('restore', USAGE, {}, 1)
  if (!given) return
  const [file = ''] = given.others
  const { databaseUrl, dataDir } = readConfig(process.env, { needsSecrets: false })
  const restoreInto = (url: string) => restore(url, file, say, stopped)
  const intoEmbedded = async () => {
    const embedded = await createEmbedded(dataDir, stopped)
    atEnd((hurry) => embedded.stop(hurry))
    return restoreInto(embedded.url)
  }
  const { version, made_at } = await (databaseUrl === undefined
    ? intoEmbedded()
    : onGivenDatabase(restoreInto(databaseUrl)))
  say(`All of the backup of ${made_at} (version ${version}) is there, and checked.`)
})
