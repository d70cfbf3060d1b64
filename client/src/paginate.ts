import type { Client } from './client.js'
import type { AnswerOf, Operation, RequestArguments } from './operations.js'

/** Operations that return a page and the cursor of the next one. */
type Paged = { [K in Operation]: AnswerOf<K> extends { next_cursor: string | null } ? K : never }[Operation]

type ItemOf<A> = { [M in keyof A]: A[M] extends (infer Item)[] ? Item : never }[keyof A]

/** All items of a list, page after page. */
export async function* paginate<K extends Paged>(
  client: Client,
  operation: K,
  ...[options]: RequestArguments<K>
): AsyncGenerator<ItemOf<AnswerOf<K>>> {
  const call = client.request as (
    operation: K,
    options: object,
  ) => Promise<{ data: Record<string, unknown> & { next_cursor: string | null } }>
  const given: { query?: object } = options ?? {}
  let cursor: string | null = null
  do {
    const query: object = { ...given.query, ...(cursor !== null && { cursor }) }
    const { data }: Awaited<ReturnType<typeof call>> = await call(operation, { ...given, query })
    yield* Object.values(data).find(Array.isArray) as ItemOf<AnswerOf<K>>[]
    cursor = data.next_cursor
  } while (cursor !== null)
}
