/**
 * Hands the same service to one test after the other, emptied in between. Starting a service with its database takes 0.4 s
 * of CPU, and emptying it a hundredth of that.
 */
import { isCluster } from './database.js'
import type { Service, Test } from './service.js'

/** All that a test may change besides rows, and tables that have become too large to empty quickly. */
const SCHEMA = `
  select md5(string_agg(change, ',' order by change)) as schema from (
    select relname::text || relnatts from pg_class where relnamespace = 'public'::regnamespace
    union all select conname from pg_constraint where connamespace = 'public'::regnamespace
    union all select tgname from pg_trigger where not tgisinternal
    union all select relname || ' is large' from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 1000000
    union all select proname from pg_proc where pronamespace = 'public'::regnamespace
    union all select array_to_string(setconfig, ',') from pg_db_role_setting
      where setdatabase = (select oid from pg_database where datname = current_database())
  ) as changes (change)`

/** Migrations make one user, in whose name the counts of deleted people stay. */
const EMPTY = `
  do $$
  declare name text;
  begin
    set local session_replication_role = replica;
    for name in select tablename from pg_tables where schemaname = 'public' and tablename <> 'users' loop
      if pg_relation_size(quote_ident(name)::regclass) > 0 then execute format('delete from %I', name); end if;
    end loop;
    delete from users where id <> '00000000-0000-0000-0000-000000000000';
  end $$`

const readSchema = async ({ database }: Service) => {
  const [found] = await database.read.statement<{ schema: string }>(SCHEMA, [])
  return found?.schema
}

const empty = async ({ app, database, repohost, logs }: Service): Promise<void> => {
  await app.milestones.flush()
  // A change of the level publishes weeks after its answer.
  await app.jobs.publishedWeeks.run()
  await database.write.statement(EMPTY, [])
  repohost.reset()
  logs.length = 0
}

const idle: { service: Service; kind: string; schema: string | undefined }[] = []

/**
 * @param kind only services of one kind are handed on to each other
 * @param start starts another service, until all tests have ended
 */
export const reuse = async (
  test: Test,
  kind: string,
  start: (allTests: Test) => Promise<Service>,
): Promise<Service> => {
  const found = idle.findIndex((one) => one.kind === kind)
  const [taken] = found < 0 ? [] : idle.splice(found, 1)
  const service = taken?.service ?? (await start((await import('tap')).t))
  const schema = taken?.schema ?? (await readSchema(service))
  const isClean = async () =>
    test.passing() &&
    service.app.server.listening &&
    service.app.lifecycle.requestsUnderWay() === 0 &&
    (await readSchema(service)) === schema
  test.teardown(async () => {
    try {
      if (!(await isClean())) return
      await empty(service)
      idle.push({ service, kind, schema })
    } catch {
      // The next test starts another one.
    }
  })
  return service.for(test)
}

/** Only tests below a file's own take turns; a cluster’s tables are emptied another way. */
export const canReuse = async (test: Test): Promise<boolean> =>
  test.parent !== undefined && !(await isCluster())
