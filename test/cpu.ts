import { readFileSync } from 'node:fs'

/** The CPU time of this process, and of its child processes that have ended, in seconds. */
export const cpuSeconds = (): { own: number; started: number } => {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1e6
  if (process.platform !== 'linux') return { own, started: 0 }
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // Ticks of 10 ms: cutime and cstime.
  const [ofUsers = 0, ofSystem = 0] = stat.slice(stat.lastIndexOf(')')).split(' ').slice(14, 16).map(Number)
  return { own, started: (ofUsers + ofSystem) / 100 }
}
