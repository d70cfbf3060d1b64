/** The SQL of every query, without a database: what is declared, and what query functions make with Drizzle's builder. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/postgres-js'
import type { Db } from '../src/platform/database/client.js'
import { type Statement, statements } from '../src/platform/database/statement.js'
// Beside the queries, the doors to the database have statements of their own.
import '../src/platform/database/replica.js'
import { projectRoot } from '../src/platform/process/root.js'
import { samples } from './query-samples.js'

const folder = join(projectRoot, 'build', 'src', 'queries')

/** Where the file lies that `npm run queries` writes. */
export const queriesFile = join(projectRoot, 'drizzle', 'queries.sql')

export interface BuiltQuery {
  /** `module.function` */
  name: string
  /** Different ones, where it depends on the arguments or on what is found. */
  texts: string[]
}

export interface Queries {
  declared: Statement<unknown>[]
  built: BuiltQuery[]
  /** Query functions whose SQL is not known, because no sample sends any. */
  missing: string[]
}

/** Of modules that make SQL with the builder: what takes a database first. Elsewhere, declarations tell everything. */
const loadBuildingFunctions = async (): Promise<Map<unknown, string>> => {
  const functions = new Map<unknown, string>()
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  for (const file of files) {
    const exported = await import(join(folder, file))
    const source = await readFile(join(folder, file), 'utf8')
    if (!/from '(drizzle-orm|\.\.\/db\/tables\.js)'/.test(source)) continue
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'function' && /^[^(]*\((db|tx|database)\b/.test(value.toString()))
        functions.set(value, `${file.slice(0, -3)}.${name}`)
    }
  }
  return functions
}

/** The answer to whatever is asked; where a number is wanted it is none, where a moment is wanted it is one. */
const SOME_VALUE = '2026-11-21 09:30:00.12+00'

/** A database that finds nothing, or one made-up row, and keeps what the builder has made. */
const createRecorder = (isEmpty: boolean) => {
  const built: string[] = []
  let asked = 0
  const answer = (row: unknown) => {
    asked++
    return isEmpty ? [] : [row]
  }
  const driver = {
    options: { parsers: {}, serializers: {} },
    unsafe: (text: string) => {
      built.push(text)
      return Object.assign(Promise.resolve(answer({})), {
        values: async () => (isEmpty ? [] : [Array(100).fill(SOME_VALUE)]),
      })
    },
  }
  const rows = async ({ columns }: Statement<unknown>) =>
    answer(Object.fromEntries(Object.keys(columns).map((name) => [name, SOME_VALUE])))
  const db = Object.assign(drizzle(driver as never), { rows }) as unknown as Db
  return { db, built, asked: () => asked }
}

/** What a call sends, with a row found and without. */
const record = async (call: (db: Db) => Promise<unknown>) => {
  const full = createRecorder(false)
  await call(full.db)
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

/** `drizzle/queries.sql` */
export const toText = ({ declared, built }: Queries): string => {
  const parts = [
    '-- Every statement that the service sends; `npm run queries` writes this file.',
    '-- == Written by hand ==',
    ...declared.map(({ name, columns, text }) => {
      const returned = Object.entries(columns).map(([column, { types }]) => `${column} ${types.join('|')}`)
      return [
        `-- ${name}`,
        ...(returned.length > 0 ? [`-- returns ${returned.join(', ')}`] : []),
        `${dedent(text)};`,
      ].join('\n')
    }),
    "-- == Made by Drizzle's builder ==",
    ...built.flatMap(({ name, texts }) => texts.map((text) => `-- ${name}\n${breakLines(text)};`)),
  ]
  return `${parts.join('\n\n')}\n`
}

const dedent = (text: string): string => {
  const lines = text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
  const indent = Math.min(...lines.map((line) => line.search(/\S/)))
  return lines.map((line) => line.slice(indent)).join('\n')
}

const CLAUSES =
  /(?<!delete|do update) (?=(?:from|(?:inner|left) join|where|order by|limit|for|values|on conflict|set|returning)\b)/g

/** The builder makes one long line. */
const breakLines = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  const depthAt = (index: number) =>
    line.slice(0, index).split('(').length - line.slice(0, index).split(')').length
  return line.replace(CLAUSES, (space, index: number) => (depthAt(index) === 0 ? '\n' : space))
}
