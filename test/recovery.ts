/** The commands of the handbook on point-in-time recovery, run as they stand there on a PostgreSQL of its own. */
import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findAccount } from '../src/platform/database/embedded/account.js'
import { projectRoot } from '../src/platform/process/root.js'
import { freePort } from './process.js'

const run = promisify(execFile)

/** Where Debian keeps the programs of its newest PostgreSQL. The embedded one has no `pg_basebackup`. */
export const findPrograms = async (): Promise<string | undefined> => {
  const place = '/usr/lib/postgresql'
  const [version] = (await readdir(place).catch((): string[] => [])).sort().reverse()
  const bin = join(place, version ?? '', 'bin')
  return (await readdir(bin).catch((): string[] => [])).includes('pg_basebackup') ? bin : undefined
}

const SECTION = /^### Point-in-time recovery\n([\s\S]*?)^##+ /m

/** The blocks of the handbook, in its order. */
export const readRecipe = async () => {
  const handbook = await readFile(join(projectRoot, 'docs/backup-and-upgrade.md'), 'utf8')
  const section = SECTION.exec(handbook)?.[1] ?? ''
  const blocks = Array.from(
    section.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm),
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const [setUp = '', backUp = '', restore = '', restorePoint = ''] = blocks
  return { setUp, backUp, restore, restorePoint, count: blocks.length }
}

interface Scope {
  teardown(work: () => unknown): void
}

/** A PostgreSQL whose files and archive are in `folder`, with `sudo` and `systemctl` that know only this server. */
export const startServer = async (test: Scope, folder: string, bin: string, settings = '') => {
  const account = await findAccount()
  const [data, archive, tools] = ['data', 'archive', 'tools'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const port = await freePort()
  for (const each of [data, archive, tools]) {
    await mkdir(each, { mode: 0o700 })
    if (account) await chown(each, account.uid, account.gid)
  }
  await chmod(tools, 0o755)
  const control = `exec ${bin}/pg_ctl -w -s -D "$PGDATA" -l ${data}.log`
  const programs = {
    sudo: 'exec "$@"',
    systemctl: `case "$1" in stop) ${control} -m fast stop ;; restart) ${control} restart ;; *) ${control} start ;; esac`,
  }
  for (const [name, text] of Object.entries(programs))
    await writeFile(join(tools, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  await copyFile(join(projectRoot, 'ops/archive-wal.sh'), join(tools, 'archive-wal'))
  await chmod(join(tools, 'archive-wal'), 0o755)

  const env = {
    PATH: `${tools}:${bin}:${process.env.PATH}`,
    PGDATA: data,
    PGHOST: folder,
    PGPORT: `${port}`,
    PGUSER: 'postgres',
  }
  /** Runs commands of the handbook in the places of this server. */
  const shell = async (text: string): Promise<string> => {
    const local = text
      .replace(/^export PGDATA=.*$/m, '')
      .replace(/^sudo install .*$/m, '')
      .replaceAll('/usr/local/bin/archive-wal', join(tools, 'archive-wal'))
    const script = `set -eu -o pipefail\nARCHIVE=${archive}\n${local}`
    const { stdout } = await run('bash', ['-c', script], { ...account, env, cwd: '/' }).catch(
      async (cause) => {
        const log = await readFile(`${data}.log`, 'utf8').catch(() => '')
        throw new Error(`${cause.stderr}\n${log.slice(-2_000)}`, { cause })
      },
    )
    return stdout.trim()
  }

  const config = `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = '${folder}'\n${settings}`
  await chmod(folder, 0o755)
  if (account) await chown(folder, account.uid, account.gid)
  await shell(`
    initdb --username=postgres --auth=trust --encoding=UTF8 --locale=C >${data}.log
    cat >>"$PGDATA/postgresql.conf" <<END\n${config}\nEND
    systemctl start postgresql`)
  test.teardown(() => shell(`${bin}/pg_ctl -w -s -D "$PGDATA" -m immediate stop`).catch(() => {}))
  return {
    port,
    shell,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    psql: (text: string) => shell(`psql -XAtqc "${text}"`),
    /** The machine loses its power and its disk. */
    lose: () =>
      shell(`
        server=$(head -n 1 "$PGDATA/postmaster.pid")
        kill -KILL $server $(ps -o pid= --ppid $server)
        rm -rf "$PGDATA" "$PGHOST"/.s.PGSQL.*`),
  }
}
