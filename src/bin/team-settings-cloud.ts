#!/usr/bin/env node
/** The package's command: starts the service, or runs one of the operator's commands. */
import '../platform/process/require-node.js'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { own } from '../../schemas/own.js'
import { useCommandPrefix } from '../platform/process/arguments.js'
import { loadEnvFile } from '../platform/process/program.js'
import { serviceVersion } from '../platform/process/root.js'

const NAME = 'team-settings-cloud'

const commands: Record<string, string> = {
  start: '../server.js',
  demo: '../../demo/demo.js',
  migrate: './migrate.js',
  backup: './backup.js',
  restore: './restore.js',
  doctor: './doctor.js',
  users: './users.js',
  workspaces: './workspaces.js',
  distribute: './distribute.js',
  rollups: './rebuild-rollups.js',
  'import-wakatime': './import-wakatime.js',
}

const USAGE = `${NAME} [command]

  start            starts the service (the default): migrates the database, and serves until it is stopped (Ctrl-C)
  demo             starts the service with made-up people and activity, which are deleted at the end
  migrate          migrates the database
  backup FILE      writes a backup while the service runs
  restore FILE     restores a backup into an empty database
  doctor           checks the installation
  users            finds, signs out, disables, enables, exports or deletes an account, and revokes access keys
  workspaces       lists, shows, exports, transfers or deletes workspaces
  distribute       distributes the tables over a Citus cluster
  rollups          rebuilds the rollups of the dashboard
  import-wakatime  imports a file of WakaTime heartbeats for a person
  --version        prints the version

  "${NAME} COMMAND --help" describes a command. Environment variables, or a file .env, configure all of them:
  docs/configuration.md in the package lists them.
`

/** The system's folder for application data, because a package has no folder to write to. */
const platformDataDir = (): string => {
  if (process.platform === 'darwin') return join(homedir(), 'Library/Application Support', NAME)
  return join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), NAME)
}

const [command = 'start', ...rest] = process.argv.slice(2)
const program = own(commands, command)
if (command === '--version') {
  process.stdout.write(`${serviceVersion}\n`)
} else if (command === '--help' || command === 'help') {
  process.stdout.write(USAGE)
} else if (program === undefined) {
  process.stderr.write(`Unknown command "${command}". Run "${NAME} --help" for a list of commands.\n`)
  process.exitCode = 1
} else {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...rest)
  useCommandPrefix(NAME)
  loadEnvFile()
  if (!existsSync('.data')) process.env.DATA_DIR ??= platformDataDir()
  await import(program)
}
