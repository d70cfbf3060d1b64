/** Writes `drizzle/queries.sql`. */
import { writeFile } from 'node:fs/promises'
import { collectQueries, queriesFile, toText } from './query-texts.js'

await writeFile(queriesFile, toText(await collectQueries()))
