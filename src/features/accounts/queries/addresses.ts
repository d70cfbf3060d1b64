/** HMACs of people's e-mail addresses. */
import type { Db } from '../../../platform/database/client.js'
import { statement } from '../../../platform/database/statement.js'
import type { StatedAddresses } from '../../../platform/hosts/kind.js'
import type { AddressKey } from '../address-keys.js'

/** $1: the user; $2: HMACs that are someone's; $3: HMACs that aren't the user's; $4: whether these are all. */
const DELETE_ADDRESSES = statement(
  'delete addresses',
  {},
  `
  delete from addresses
  where hmac = any($2::text[]) or (user_id = $1::uuid and ($4::boolean or hmac = any($3::text[])))`,
)

/** $1: the user; per address: $2 HMAC, $3 day. */
const UPSERT_ADDRESSES = statement(
  'upsert addresses',
  {},
  `
  insert into addresses (hmac, user_id, confirmed_day)
  select a.hmac, $1::uuid, a.day from unnest($2::text[], $3::date[]) as a (hmac, day)
  order by a.hmac
  on conflict (hmac) do update set user_id = excluded.user_id, confirmed_day = excluded.confirmed_day`,
)

/** Stores what the host says about a person's addresses. The host's latest report decides who owns an address. */
export const replaceAddresses = async (
  tx: Db,
  keys: AddressKey[],
  userId: string,
  { confirmed, unconfirmed, isComplete }: StatedAddresses,
): Promise<void> => {
  const hmacsOf = (addresses: string[]) =>
    keys.flatMap((key) => addresses.map((address) => key.hmacOf(address)))
  const known = confirmed.map(({ address }) => address)
  await tx.rows(DELETE_ADDRESSES, [userId, hmacsOf(known), hmacsOf(unconfirmed), isComplete])
  const [key] = keys
  if (!key || known.length === 0) return
  const days = confirmed.map(({ day }) => day)
  await tx.rows(UPSERT_ADDRESSES, [userId, known.map((address) => key.hmacOf(address)), days])
}
