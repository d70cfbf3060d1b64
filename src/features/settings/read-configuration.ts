import { ApiError } from '../../errors.js'
import type { Db } from '../../platform/database/client.js'
import { etagOfText } from '../../platform/http/etag.js'
import { listPatterns } from '../workspaces/index.js'
import { readFingerprint } from './queries/configuration.js'
import { listOverrides } from './queries/overrides.js'
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

const PAGE = 500

/** The text before the overrides. */
const textOfHead = ({ settings, locked, idleWindowMinutes, patterns }: Head): string =>
  `{"settings":${settings},"locked":${locked},"idle_window_minutes":${idleWindowMinutes},"patterns":${JSON.stringify(patterns)},"projects":{`

/**
 * The configuration as pieces of JSON. Clients never get a mix of two states. If the overrides change before the end,
 * this fails, and a response in progress closes its connection.
 * @throws {ConfigurationChanged}
 */
export async function* readConfiguration(db: Db, workspaceId: string, head: Head): AsyncGenerator<string> {
  let after: string[] | undefined
  let text = textOfHead(head)
  for (;;) {
    const { rows, more } = await listOverrides(db, workspaceId, after, PAGE)
    const members = rows.map(
      ({ owner, repo, settings }) => `${JSON.stringify(`${owner}/${repo}`)}:{"settings":${settings}}`,
    )
    text += `${after && members.length > 0 ? ',' : ''}${members.join(',')}`
    const last = rows.at(-1)
    if (!more || !last) break
    after = [last.owner.toLowerCase(), last.repo.toLowerCase()]
    yield text
    text = ''
  }
  const etag = etagOfConfiguration(workspaceId, head)
  if (etagOfConfiguration(workspaceId, await readHead(db, workspaceId)) !== etag)
    throw new ConfigurationChanged()
  yield `${text}}}`
}
