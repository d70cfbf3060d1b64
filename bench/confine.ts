/** Limits processes to some cores and some memory. Needs Linux, `taskset`, and for the memory the right to create a cgroup. */
import { execFile } from 'node:child_process'
import { access, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { promisify } from 'node:util'
import { parentOf } from './harness.js'

const run = promisify(execFile)

/** These processes and, for a backend of PostgreSQL, the whole server. */
const familyOf = async (pids: number[]): Promise<number[]> => {
  const parents = await Promise.all(pids.map(parentOf))
  const all = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name)).map(Number)
  const withParents = await Promise.all(all.map(async (pid) => ({ pid, parent: await parentOf(pid) })))
  const found = withParents.filter(({ parent }) => parents.includes(parent) && parent !== process.pid)
  return [...pids, ...parents.filter((pid) => pid !== process.pid), ...found.map(({ pid }) => pid)]
}

/** High enough to take precedence over everything else on the machine. */
const SHARES = 10_000

/** The settings of both versions of cgroups, with the names of their files. */
const groupsOf = (mib: number): { root: string; limits: Record<string, number> }[][] => {
  const bytes = mib * 2 ** 20
  return [
    [{ root: '/sys/fs/cgroup', limits: { 'memory.max': bytes, 'cpu.weight': SHARES } }],
    [
      { root: '/sys/fs/cgroup/memory', limits: { 'memory.limit_in_bytes': bytes } },
      { root: '/sys/fs/cgroup/cpu', limits: { 'cpu.shares': SHARES } },
    ],
  ]
}

const groupIn = (root: string) => `${root}/bench-${process.pid}`

const joinGroup = async (
  pids: number[],
  { root, limits }: { root: string; limits: Record<string, number> },
  cleanUp: (task: () => Promise<void>) => void,
): Promise<void> => {
  // Only cgroup folders have this file.
  await access(`${root}/cgroup.procs`)
  const group = groupIn(root)
  await mkdir(group)
  cleanUp(async () => {
    const left = (await readFile(`${group}/cgroup.procs`, 'utf8')).split('\n').filter(Boolean)
    for (const pid of left) await writeFile(`${root}/cgroup.procs`, pid).catch(() => {})
    await rmdir(group)
  })
  for (const [name, value] of Object.entries(limits)) await writeFile(`${group}/${name}`, String(value))
  for (const pid of pids) await writeFile(`${group}/cgroup.procs`, String(pid))
}

/** False where no cgroup can be made. */
const limitMemory = async (
  pids: number[],
  mib: number,
  cleanUp: (task: () => Promise<void>) => void,
): Promise<boolean> => {
  for (const groups of groupsOf(mib)) {
    try {
      for (const group of groups) await joinGroup(pids, group, cleanUp)
      return true
    } catch {}
  }
  return false
}

/**
 * Starts a program with this much memory. As in a container, the program sees the limit.
 * @throws where no cgroup can be made
 */
export const launchIn = async (
  mib: number,
  cleanUp: (task: () => Promise<void>) => void,
): Promise<string[]> => {
  const joined: string[] = []
  for (const groups of groupsOf(mib)) {
    try {
      for (const { root, limits } of groups.filter(({ limits }) =>
        Object.keys(limits)[0]?.startsWith('memory'),
      )) {
        await joinGroup([], { root, limits }, cleanUp)
        joined.push(`echo $$ >${groupIn(root)}/cgroup.procs`)
      }
      return ['/bin/sh', '-c', `${joined.join(' && ')} && exec "$0" "$@"`, process.execPath]
    } catch {}
  }
  throw new Error('No cgroup could be made. This needs Linux, and the right to make one.')
}

const pin = (pid: number, cores: string) => run('taskset', ['-acp', cores, String(pid)])

/**
 * Limits these processes to the first cores and this much memory. For a PostgreSQL backend, the whole server is
 * limited.
 * @returns a sentence that says which limits took effect
 */
export const confine = async (
  pids: number[],
  { cores, mib }: { cores: number; mib: number },
  cleanUp: (task: () => Promise<void>) => void,
): Promise<string> => {
  const family = await familyOf(pids)
  for (const pid of family) await pin(pid, `0-${cores - 1}`)
  const isLimited = await limitMemory(family, mib, cleanUp)
  const memory = isLimited ? `in ${mib} MiB of memory` : 'with all memory, because no cgroup could be made'
  return `The service and PostgreSQL run on ${cores} of ${cpus().length} cores, ${memory}.`
}

/** Takes this process, which makes the load, off the first cores, if there are others. */
export const leaveCore = async (cores: number): Promise<void> => {
  if (cpus().length > cores) await pin(process.pid, `${cores}-${cpus().length - 1}`)
}
