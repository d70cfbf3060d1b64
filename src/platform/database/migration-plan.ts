/**
 * How a migration runs while instances of the previous version serve requests: in steps, each of them a transaction, or a
 * statement that must be outside of one. A step waits for the lock of at most one table that is in use and holds no other
 * meanwhile, so that it never is a part of a deadlock with a request. `CONTRIBUTING.md` has the rules for new migrations.
 */

type Lock = 'access exclusive' | 'share row exclusive' | 'share update exclusive' | 'row exclusive'

export interface Step {
  commands: string[]
  /** How many statements of the migration are done before it, and after it. */
  from: number
  upTo: number
  /** The tables and views that are in use, and the lock that it takes on them. */
  locks: { relation: string; mode: Lock }[]
  /** An index that is made or dropped outside of a transaction, without keeping anyone from reading or writing. */
  index?: { name: string; wanted: boolean }
  /** Whether it is done again, each time in a transaction of its own, until it changes no row. */
  repeats?: boolean
  /** A constraint that it adds, or checks, and that may be there already after an interruption. */
  constraint?: string
  /** The tables that it reads or writes from end to end. */
  scans: string[]
  /** Whether requests wait for as long as it works, and not only while it takes its lock. */
  isLong?: boolean
}

/** What a statement needs by itself. */
type Need = Omit<Step, 'from' | 'upTo'> & {
  creates?: string
  /** Whether it may share a transaction with its neighbours, because it takes a moment. */
  isQuick?: boolean
}

const NAME = String.raw`(?:"?public"?\.)?"?(\w+)"?`
const match = (sql: string, pattern: string) => new RegExp(pattern.replaceAll('NAME', NAME), 'is').exec(sql)
/** Written into a migration above a statement that changes some rows, and is repeated until it changes none. */
const REPEATED = /^-- Repeated until it changes no row/m

/** The steps of a migration with these statements. */
export const planSteps = (statements: string[]): Step[] => {
  const created = new Set<string>()
  const steps: Step[] = []
  let open: Step | undefined
  for (const [n, statement] of statements.entries()) {
    for (const { creates, isQuick = false, ...need } of needsOf(statement, created)) {
      if (creates !== undefined) created.add(creates)
      const step = { ...need, from: n, upTo: n + 1 }
      const joined = open && isQuick ? join(open, step) : undefined
      if (joined) {
        steps[steps.length - 1] = joined
        open = joined
      } else {
        steps.push(step)
        open = isQuick ? step : undefined
      }
    }
  }
  // Until the last of several steps, the statement is not done.
  return steps.map((step, n) => (steps[n + 1]?.upTo === step.upTo ? { ...step, upTo: step.upTo - 1 } : step))
}

/** Both in one transaction, if they need the lock of one table at most. */
const join = (a: Step, b: Step): Step | undefined => {
  const locks = [...a.locks]
  for (const lock of b.locks) {
    const same = locks.findIndex(({ relation }) => relation === lock.relation)
    if (same < 0) locks.push(lock)
    // A stronger lock is never asked for while a weaker one is held.
    else if (locks[same]?.mode !== lock.mode) return undefined
  }
  if (locks.length > 1) return undefined
  return { commands: [...a.commands, ...b.commands], from: a.from, upTo: b.upTo, locks, scans: [] }
}

/** The statement without its comments. */
const bare = (sql: string) => sql.replaceAll(/^\s*--.*$/gm, '').trim()

const needsOf = (statement: string, created: Set<string>): Need[] => {
  const sql = bare(statement)
  const inUse = (mode: Lock, ...relations: (string | undefined)[]) =>
    relations.flatMap((relation) =>
      relation === undefined || created.has(relation) ? [] : [{ relation, mode }],
    )
  const quick = (mode: Lock, ...relations: (string | undefined)[]): Need => ({
    commands: [sql],
    locks: inUse(mode, ...relations),
    scans: [],
    isQuick: true,
  })

  const [, table] = match(sql, '^create (?:table|view)(?: if not exists)? NAME') ?? []
  if (table !== undefined) return [{ ...quick('row exclusive'), creates: table }]

  const [, index = '', indexed = ''] =
    match(sql, '^create (?:unique )?index (?:if not exists )?NAME on NAME') ?? []
  if (indexed !== '' && created.has(indexed)) return [quick('row exclusive')]
  if (indexed !== '')
    return [
      {
        commands: [sql.replace(/^create (unique )?index (if not exists )?/i, 'create $1index concurrently ')],
        locks: inUse('share update exclusive', indexed),
        index: { name: index, wanted: true },
        scans: [indexed],
      },
    ]

  const [, dropped] = match(sql, '^drop index (?:if exists )?NAME') ?? []
  if (dropped !== undefined)
    return [
      {
        commands: [sql.replace(/^drop index (if exists )?/i, 'drop index concurrently ')],
        locks: [],
        index: { name: dropped, wanted: false },
        scans: [],
      },
    ]

  const [, constrained, constraint, kind = ''] =
    match(sql, '^alter table NAME add constraint NAME (foreign key|check)') ?? []
  if (constrained !== undefined && constraint !== undefined) {
    const [, referenced] = match(sql, String.raw`\breferences NAME`) ?? []
    if (created.has(constrained)) return [quick('share row exclusive', referenced)]
    const mode = /check/i.test(kind) ? 'access exclusive' : 'share row exclusive'
    return [
      {
        commands: [`${sql.replace(/;$/, '')} not valid`],
        locks: inUse(mode, constrained, referenced),
        constraint,
        scans: [],
      },
      {
        commands: [`alter table "${constrained}" validate constraint "${constraint}"`],
        locks: inUse('share update exclusive', constrained),
        scans: [constrained],
      },
    ]
  }

  const [, altered] = match(sql, '^alter table NAME') ?? []
  if (altered !== undefined && !created.has(altered)) {
    if (match(sql, String.raw`^alter table NAME (?:re)?set \(`))
      return [quick('share update exclusive', altered)]
    const { isQuick, ...rest } = quick('access exclusive', altered)
    return [rewrites.test(sql) ? { ...rest, scans: [altered], isLong: true } : { ...rest, isQuick: true }]
  }

  const [, changed] =
    match(sql, '^(?:insert into|update|delete from|with .*?(?:insert into|update|delete from)) NAME') ?? []
  if (changed !== undefined)
    return [
      {
        commands: [sql],
        locks: inUse('row exclusive', changed),
        scans: Array.from(sql.matchAll(/\b(?:from|join|update) "?(\w+)"?/gi), ([, name = '']) => name),
        ...(REPEATED.test(statement) && { repeats: true }),
      },
    ]

  // Its tables are in its text, in quotes or not.
  if (match(sql, '^do '))
    return [
      {
        commands: [sql],
        locks: [],
        scans: Array.from(sql.matchAll(/\b(?:from|update) "?(\w+)"?/gi), ([, name = '']) => name),
      },
    ]

  const [, list] = /^(?:truncate|drop table|drop view)(?: if exists)? (.*)/is.exec(sql) ?? []
  if (list !== undefined)
    return [
      quick('access exclusive', ...Array.from(list.matchAll(new RegExp(NAME, 'g')), ([, name]) => name)),
    ]
  return [quick('row exclusive')]
}

/** What writes a table anew, or reads all of it, while requests wait. */
const rewrites =
  /\b(set data type|type \w+.* using|set not null|generated always|add (constraint|primary key|unique)|default (gen_random_uuid|clock_timestamp|random|nextval)|set (un)?logged|set tablespace)\b/i
