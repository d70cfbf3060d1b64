/** The SQL of every query, without a database: what is declared, and what query functions make with Drizzle's builder. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/postgres-js'
import type { Db } from '../src/platform/database/client.js'
import { type Statement, statements } from '../src/platform/database/statement.js'
// The database client has statements of its own.
import { projectRoot } from '../src/platform/process/root.js'
import { samples } from './query-samples.js'

const folder = join(projectRoot, 'build', 'src', 'features')

export interface BuiltQuery {
  /** `module.function` */
  name: string
  /** Different ones, where it depends on the arguments or on what is found. */
  texts: string[]
}

export interface Queries {
  declared: Statement<unknown>[]
  built: BuiltQuery[]
  /** Query functions whose SQL isn't known, because no sample sends any. */
  missing: string[]
}

/** The functions that take a database first, in modules that use the builder. Other modules declare their SQL. */
const loadBuildingFunctions = async (): Promise<Map<unknown, string>> => {
  const functions = new Map<unknown, string>()
  // The build keeps the output of files that were renamed.
  const sources = await readdir(join(projectRoot, 'src', 'features'), { recursive: true })
  for (const source of sources.filter((name) => /(^|\/)queries(\.ts|\/.*\.ts)$/.test(name))) {
    const file = source.replace(/ts$/, 'js')
    const exported = await import(join(folder, file))
    const text = await readFile(join(folder, file), 'utf8')
    if (!/from '(drizzle-orm|\.\.?\/tables\.js)'/.test(text)) continue
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'function' && /^[^(]*\((db|tx|database)\b/.test(value.toString()))
        functions.set(value, `${file.slice(0, -3)}.${name}`)
    }
  }
  return functions
}

/** The response to whatever is asked; where a number is wanted it is none, where a moment is wanted it is one. */
const SOME_VALUE = '2026-11-21 09:30:00.12+00'

/** A database that finds nothing, or one made-up row, and keeps what the builder has made. */
const createRecorder = (isEmpty: boolean) => {
  const built: string[] = []
  let asked = 0
  const response = (row: unknown) => {
    asked++
    return isEmpty ? [] : [row]
  }
  const driver = {
    options: { parsers: {}, serializers: {} },
    unsafe: (text: string) => {
      built.push(text)
      return Object.assign(Promise.resolve(response({})), {
        values: async () => (isEmpty ? [] : [Array(100).fill(SOME_VALUE)]),
      })
    },
  }
  const rows = async ({ columns }: Statement<unknown>) =>
    response(Object.fromEntries(Object.keys(columns).map((name) => [name, SOME_VALUE])))
  const db = Object.assign(drizzle(driver as never), { rows }) as unknown as Db
  return { db, built, asked: () => asked }
}

/** The SQL of a call, with and without a found row. */
const record = async (call: (db: Db) => Promise<unknown>) => {
  const full = createRecorder(false)
  // The made-up value is neither JSON nor a list, so reading it can end the call once its statements are known.
  await call(full.db).catch((error) => {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
  })
  const empty = createRecorder(true)
  // Where a row must be there, this is where it ends.
  await call(empty.db).catch(() => {})
  return { texts: [...full.built, ...empty.built], asked: full.asked() }
}

export const collectQueries = async (): Promise<Queries> => {
  const functions = await loadBuildingFunctions()
  const texts = new Map<string, Set<string>>()
  const called = new Set<string>()
  for (const { query, call } of samples) {
    const name = functions.get(query) ?? query.name
    const recorded = await record(call)
    if (recorded.asked > 0) called.add(name)
    texts.set(name, new Set([...(texts.get(name) ?? []), ...recorded.texts]))
  }
  return {
    declared: [...statements].sort((a, b) => (a.name < b.name ? -1 : 1)),
    built: [...texts]
      .map(([name, found]) => ({ name, texts: [...found] }))
      .filter(({ texts }) => texts.length > 0)
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    missing: [...functions.values()].filter((name) => !called.has(name)),
  }
}
