/** Indexes and constraints of an empty database, which are much faster to create once the rows are there. */
import type postgres from 'postgres'

/** `maintenance_work_mem` of the restore. More memory sorts faster, but a restore may run beside a service. */
const SORT_MEMORY = '128MB'

/**
 * Drops all indexes, primary keys, unique constraints and foreign keys of the service's tables.
 * @returns what creates them again as they were, which also checks every row
 */
export const deferIndexes = async (tx: postgres.TransactionSql): Promise<() => Promise<void>> => {
  // Foreign keys need the unique index that they refer to, so they are dropped first and created last.
  const constraints = await tx<{ drop: string; create: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
      format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create
    from pg_constraint
    where connamespace = 'public'::regnamespace and contype in ('f', 'p', 'u')
    order by contype <> 'f', conname`
  const indexes = await tx<{ drop: string; create: string }[]>`
    select format('drop index %s', indexrelid::regclass) as drop, pg_get_indexdef(indexrelid) as create
    from pg_index i join pg_class c on c.oid = indexrelid
    where relnamespace = 'public'::regnamespace
      and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    order by relname`
  for (const { drop } of [...constraints, ...indexes]) await tx.unsafe(drop)
  return async () => {
    await tx`select set_config('maintenance_work_mem', ${SORT_MEMORY}, true)`
    for (const { create } of [...indexes, ...constraints.toReversed()]) await tx.unsafe(create)
  }
}
