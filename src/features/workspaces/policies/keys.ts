/** The rights of access keys in workspaces. */
import type { KeyInUse } from '../../../platform/access/caller.js'

/** A key of a workspace reaches no other one; the key of a person reaches the person's workspaces. */
export const reaches = ({ workspaceId }: KeyInUse, wanted: string): boolean =>
  workspaceId === null || workspaceId === wanted

/** How records name a key of a workspace, which acts for no person. */
export const nameOfKey = ({ name }: { name: string }): string => `key ${name}`
