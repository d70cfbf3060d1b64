/** Checks a deployment from the machine that the service runs on. */
import { access, readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Config, readConfig } from '../../config.js'
import { NoDatabase, openEmbedded } from '../../platform/database/embedded/index.js'
import { ConfigError } from '../../platform/process/config-error.js'
import { ownerFaultOf } from '../../platform/process/data-dir.js'
import { memoryInMib } from '../../platform/process/memory.js'
import { OperatorError } from '../../platform/process/operator-error.js'
import { printable } from '../explain-failure.js'
import { checkDatabase } from './database.js'
import {
  checkAddresses,
  checkBackupFolder,
  checkFolder,
  checkMemory,
  checkNode,
  checkReachability,
  checkRedis,
  checkSecretFiles,
} from './environment.js'
import { type Finding, ok, problem, warning } from './finding.js'
import { checkSettings } from './settings.js'

export const runChecks = async (env: NodeJS.ProcessEnv, stopped: AbortSignal): Promise<Finding[]> => {
  const node = checkNode(process.versions.node)
  const about = 'configuration'
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [node, ...error.problems.map((message) => problem(about, message, 'See docs/configuration.md.'))]
  }
  const [folder, files, backups, database, addresses, network, redis] = await Promise.all([
    checkFolder(config),
    checkSecretFiles(env),
    checkBackupFolder(config),
    checkAnyDatabase(config, stopped),
    checkAddresses(config),
    checkReachability(config),
    checkRedis(config),
  ])
  const unused = config.warnings.map(({ message, remedy }) => warning(about, message, remedy))
  return [
    node,
    checkMemory(memoryInMib()),
    ...unused,
    ...checkSettings(config),
    ...addresses,
    ...folder,
    ...files,
    ...backups,
    ...database,
    ...redis,
    ...network,
  ]
}

/** Folders with a database next to a folder without one, whose name may have been mistyped. */
const databasesBeside = async (folder: string): Promise<string[]> => {
  const parent = dirname(folder)
  const names = await readdir(parent).catch(() => [])
  const found = await Promise.all(
    names.map((name) =>
      access(join(parent, name, 'postgresql/PG_VERSION')).then(
        () => [join(parent, name)],
        () => [],
      ),
    ),
  )
  return found.flat()
}

const checkAnyDatabase = async (config: Config, stopped: AbortSignal): Promise<Finding[]> => {
  const { databaseUrl } = config
  if (databaseUrl !== undefined) {
    return checkDatabase(databaseUrl, config)
  }
  const owner = await ownerFaultOf(resolve(config.dataDir))
  if (owner) return [problem('database', owner.message, owner.remedy)]
  try {
    const embedded = await openEmbedded(config.dataDir, stopped)
    return await checkDatabase(embedded.url, config).finally(() => embedded.stop())
  } catch (error) {
    if (error instanceof NoDatabase) {
      const folder = resolve(config.dataDir)
      const others = await databasesBeside(folder)
      if (others.length === 0)
        return [ok('database', 'There is none in DATA_DIR yet: the first start creates it.')]
      return [
        warning(
          'database',
          `There is none in DATA_DIR (${folder}), but in ${others.map(printable).join(' and ')}.`,
          'Correct DATA_DIR: the next start would create an empty database.',
        ),
      ]
    }
    if (!(error instanceof OperatorError)) throw error
    return [problem('database', error.message, 'See postgresql.log in DATA_DIR.')]
  }
}
