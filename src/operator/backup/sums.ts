import type postgres from 'postgres'

/** The sums of columns, by `table.column`. */
export const readSums = async (
  tx: postgres.TransactionSql,
  columns: string[],
): Promise<Record<string, string>> => {
  const sums: Record<string, string> = {}
  for (const name of columns) {
    const [table = '', column = ''] = name.split('.')
    const [row] = await tx<{ sum: string }[]>`
      select coalesce(sum(${tx(column)}), 0)::text as sum from ${tx(`public.${table}`)}`
    sums[name] = row?.sum ?? '0'
  }
  return sums
}
