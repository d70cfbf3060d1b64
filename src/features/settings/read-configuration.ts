import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { etagOfText } from '../../platform/http/etag.js'
import { listPatterns } from '../workspaces/index.js'
import { readFingerprint } from './queries/configuration.js'
import { pagesOfOverrides } from './queries/overrides.js'
import { readWorkspaceSettings, type StoredWorkspaceSettings } from './queries/workspace-settings.js'

export interface Head extends StoredWorkspaceSettings {
  patterns: string[]
  fingerprint: string
}

/** Everything except the overrides, which are represented by a fingerprint. @throws {ApiError} `workspace_not_found` */
export const readHead = async (db: Db, workspaceId: string): Promise<Head> => {
  const [found, patterns, fingerprint] = await Promise.all([
    readWorkspaceSettings(db, workspaceId, undefined),
    listPatterns(db, workspaceId),
    readFingerprint(db, workspaceId),
  ])
  if (!found || found.settings === null) throw new ApiError('workspace_not_found')
  return { ...found, settings: found.settings, patterns, fingerprint }
}

export const etagOfConfiguration = (workspaceId: string, { version, patterns, fingerprint }: Head): string =>
  etagOfText(JSON.stringify([workspaceId, version, patterns, fingerprint]))

/** The configuration changed while it was being read. */
export class ConfigurationChanged extends Error {}

/** The text before the overrides. */
const textOfHead = ({ settings, locked, merged, idleWindowMinutes, patterns }: Head): string =>
  `{"settings":${settings},"locked":${locked},"merged":${merged},"idle_window_minutes":${idleWindowMinutes},"patterns":${JSON.stringify(patterns)},"projects":{`

/**
 * The configuration as pieces of JSON. Clients never get a mix of two states. If the overrides change before the end,
 * this fails, and a response in progress closes its connection.
 * @throws {ConfigurationChanged}
 */
export async function* readConfiguration(db: Db, workspaceId: string, head: Head): AsyncGenerator<string> {
  let text = textOfHead(head)
  let separator = ''
  for await (const page of pagesOfOverrides(db, workspaceId)) {
    // The last page waits for the check below.
    if (separator) {
      yield text
      text = ''
    }
    for (const { owner, repo, settings } of page) {
      text += `${separator}${JSON.stringify(`${owner}/${repo}`)}:{"settings":${settings}}`
      separator = ','
    }
  }
  const etag = etagOfConfiguration(workspaceId, head)
  if (etagOfConfiguration(workspaceId, await readHead(db, workspaceId)) !== etag)
    throw new ConfigurationChanged()
  yield `${text}}}`
}
