/** Writes all data into one file. */
import { backUp } from '../backup/back-up.js'
import { readConfig } from '../config.js'
import { visitEmbedded } from '../db/embedded/visit.js'
import { onGivenDatabase } from '../db/given.js'
import { readArguments } from '../runtime/arguments.js'
import { atEnd, runCommand } from '../runtime/program.js'

const USAGE = `npm run backup -- FILE

  Writes everything that is in the database into FILE, while the service runs.
  DATABASE_URL says which database; without it, it is the embedded one in DATA_DIR.
  \`npm run restore\` puts it into an empty one.
`

const say = (line: string) => process.stdout.write(`${line}\n`)

runCommand(async (stopped) => {
  const given = readArguments('backup', USAGE, {}, 1)
  if (!given) return
  const [file = ''] = given.others
  const { databaseUrl, dataDir } = readConfig(process.env, { needsSecrets: false })
  if (databaseUrl !== undefined) await onGivenDatabase(backUp(databaseUrl, file, say, stopped))
  else {
    const embedded = await visitEmbedded(dataDir, stopped)
    atEnd((hurry) => embedded.stop(hurry))
    await backUp(embedded.url, file, say, stopped)
  }
  say(`All of it is in ${file}.`)
})
