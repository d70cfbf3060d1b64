import type { RepohostKind } from '../../../schemas/common.js'
import type { Database } from '../../platform/database/client.js'
import { findWriteFault } from '../../platform/database/writability.js'
import { hostKindOf } from '../../platform/hosts/index.js'
import { OperatorError } from '../../platform/process/operator-error.js'
import { type RecordedHost, readHost, recordHost, replaceHost } from './queries/repository-host.js'

interface ConfiguredHost {
  kind: RepohostKind
  url: string
  /** The address that the operator says it had before. */
  movedFrom: string | undefined
}

const describe = ({ kind, url }: RecordedHost) => `the ${hostKindOf(kind).name} host ${url}`

/** Why the accounts in a database are not those of the configured host, and what to do; undefined if they are. */
export const hostFault = (
  recorded: RecordedHost,
  { kind, url }: RecordedHost,
): { says: string; remedy: string } | undefined =>
  recorded.kind === kind && recorded.url === url
    ? undefined
    : {
        says: `The accounts in this database are those of ${describe(recorded)}, and REPOHOST_KIND and REPOHOST_URL name ${describe({ kind, url })}, where other people have the same ids.`,
        remedy: `Set REPOHOST_KIND=${recorded.kind} and REPOHOST_URL=${recorded.url}, or use another database. If it is the same host under a new address, set REPOHOST_MOVED=${recorded.url}.`,
      }

/**
 * Accounts are keyed by the numeric ids of one host, which the first start on a writable database records. A start on a
 * read-only one compares the host and records nothing.
 * @throws {OperatorError} for another host, unless the operator says that it has moved
 */
export const checkHost = async (
  database: Database,
  { kind, url, movedFrom }: ConfiguredHost,
): Promise<void> => {
  const isWritable = (await findWriteFault(database.read)) === undefined
  await database.transaction(async (tx) => {
    const recorded = isWritable ? await recordHost(tx, { kind, url }) : await readHost(tx)
    const fault = recorded && hostFault(recorded, { kind, url })
    if (recorded === undefined || fault === undefined) return
    if (movedFrom !== recorded.url) throw new OperatorError(`${fault.says} ${fault.remedy}`)
    if (isWritable) await replaceHost(tx, { kind, url })
  })
}
