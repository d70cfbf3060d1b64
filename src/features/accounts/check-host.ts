import type { Database } from '../../platform/database/client.js'
import { findWriteFault } from '../../platform/database/writability.js'
import { hostKinds } from '../../platform/hosts/index.js'
import { OperatorError } from '../../platform/process/operator-error.js'
import { type RecordedHost, readHost, recordHost, replaceHost } from './queries/installation.js'

interface ConfiguredHost extends RecordedHost {
  /** The previous address according to the operator, or the kind that was recorded by mistake. */
  movedFrom: string | undefined
}

const describe = ({ kind, url }: RecordedHost) => `the ${hostKinds[kind].name} host ${url}`

/**
 * Why the accounts in a database aren't those of the configured host, and what to do; undefined if they are, or if the
 * operator has confirmed it. A host that moves keeps its kind. A host at the same address may have been recorded as the
 * wrong kind, because Forgejo responds much like GitHub. The operator gives the previous value, so a confirmation can't
 * apply to a later change.
 */
export const hostFault = (
  recorded: RecordedHost,
  { kind, url, movedFrom }: ConfiguredHost,
): { message: string; remedy: string } | undefined => {
  const isSameKind = recorded.kind === kind
  const isSameUrl = recorded.url === url
  const before = isSameUrl ? recorded.kind : recorded.url
  const canBeSame = isSameKind || isSameUrl
  if ((isSameKind && isSameUrl) || (canBeSame && movedFrom === before)) return undefined
  const confirm = isSameUrl
    ? `If it is the same host, and REPOHOST_KIND was wrong before, set REPOHOST_MOVED=${before}.`
    : `If it is the same host under a new address, set REPOHOST_MOVED=${before}.`
  return {
    message: `The accounts in this database are those of ${describe(recorded)}, and REPOHOST_KIND and REPOHOST_URL name ${describe({ kind, url })}, where other people have the same ids.`,
    remedy: `Set REPOHOST_KIND=${recorded.kind} and REPOHOST_URL=${recorded.url}, or use another database.${canBeSame ? ` ${confirm}` : ''}`,
  }
}

/**
 * Accounts are keyed by one host's numeric ids, which the first start on a writable database records. A start on a
 * read-only one compares the host and records nothing.
 * @returns a warning if the operator confirms a change, and nothing has changed
 * @throws {OperatorError} for another host, unless the operator confirms that it's the same one
 */
export const checkHost = async (database: Database, host: ConfiguredHost): Promise<string | undefined> => {
  const { kind, url, movedFrom } = host
  const isWritable = (await findWriteFault(database.read)) === undefined
  return database.transaction(async (tx) => {
    const recorded = isWritable ? await recordHost(tx, { kind, url }) : await readHost(tx)
    if (recorded === undefined) return undefined
    const fault = hostFault(recorded, host)
    if (fault) throw new OperatorError(`${fault.message} ${fault.remedy}`)
    if (recorded.kind === kind && recorded.url === url)
      return movedFrom && `Remove REPOHOST_MOVED: the database records ${describe(host)} already.`
    if (isWritable) await replaceHost(tx, { kind, url })
    return undefined
  })
}
