import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedOptions, startEmbedded } from '../db/embedded.js'

/** A PostgreSQL in a new folder, below that for temporary ones or `parent`, with an empty database; `stop` removes all of it. */
export const startThrowAwayDatabase = async (
  options: Omit<EmbeddedOptions, 'dataDir'>,
  parent = tmpdir(),
): Promise<{ url: string; stop(): Promise<void> }> => {
  const dataDir = await mkdtemp(join(parent, 'team-settings-'))
  const remove = (folder: string) => rm(folder, { recursive: true, force: true })
  try {
    // Root runs the server under another account, which must get in.
    await chmod(dataDir, 0o711)
    const server = await startEmbedded({ ...options, dataDir })
    const stop = async () => {
      await server.stop()
      await remove(server.location)
      await remove(dataDir)
    }
    return { url: server.url, stop }
  } catch (error) {
    await remove(dataDir)
    throw error
  }
}
