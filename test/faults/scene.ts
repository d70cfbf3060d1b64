/** A durable database of its own, the stand-in of the repository host, the service as a process, and callers at work. */
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { startRepohost } from '../../demo/repohost.js'
import { startEmbedded } from '../../src/platform/database/embedded/index.js'
import { freePort, launch, onDatabase, processesOf, ready, temporaryFolder } from '../process.js'
import { until } from '../until.js'
import { type Crowd, type CrowdOptions, startCrowd } from './crowd.js'
import { type Outcome, quiet, type Scope } from './fault.js'

export interface SceneOptions extends Pick<CrowdOptions, 'excused' | 'callers' | 'pauseMs'> {
  /** Where the database is; a folder of its own by default. */
  dataDir?: string | undefined
  /** The service's route to the database, such as a proxy. */
  through?(url: string): Promise<string>
  /** Beyond what the scene sets, of each instance. */
  env?: Record<string, string>[]
  /** Starts a proxy in front of the instances with these addresses. Without it, callers alternate between them. */
  before?(urls: string[]): Promise<string>
}

export const startScene = async (scope: Scope, options: SceneOptions = {}) => {
  const { through = async (url) => url, env = [{}] } = options
  const dataDir = options.dataDir ?? (await temporaryFolder(scope))
  const database = await startEmbedded({ dataDir, maxConnections: 60, log: quiet })
  scope.teardown(() => database.stop())
  const admin = postgres(database.url, { max: 2, onnotice: () => {}, connect_timeout: 2 })
  scope.teardown(() => admin.end({ timeout: 1 }))
  const repohost = await startRepohost()
  scope.teardown(() => repohost.close())
  const url = await through(database.url)
  const start = (port: number, more: Record<string, string> = {}) =>
    launch(scope, port, {
      ...onDatabase(url),
      REPOHOST_URL: repohost.url,
      REPOHOST_API_URL: repohost.url,
      LOG_LEVEL: 'error',
      ...more,
    })
  const ports = await Promise.all(env.map(freePort))
  const services = await Promise.all(ports.map((port, n) => ready(start(port, env[n]))))
  const front = await options.before?.(services.map((service) => service.url))
  let turn = 0
  const crowd = await startCrowd({
    url: () => front ?? services[turn++ % services.length]?.url ?? '',
    repohost,
    admin,
    ...options,
  })
  /** Starts an instance that has ended on its port again. */
  const restart = (n = 0) => {
    const service = start(ports[n] ?? 0, env[n])
    services[n] = service
    return service
  }
  /** Waits until the database itself is back. @returns how long that took, in milliseconds */
  const databaseBack = async () => {
    const since = performance.now()
    const isBack = async () => {
      const sql = postgres(database.url, { max: 1, onnotice: () => {}, connect_timeout: 1 })
      const works = await sql`select`.then(
        () => true,
        () => false,
      )
      await sql.end({ timeout: 0 })
      return works
    }
    await until(isBack, 'the database is back')
    return performance.now() - since
  }
  const databaseProcesses = () => processesOf(database.location)
  return { databaseBack, databaseProcesses, admin, repohost, services, restart, crowd }
}

/** The results. The service always promises that nothing is lost, doubled, wrong or failed. */
export const finishFault = async (crowd: Crowd, did: string, broken: string[] = []): Promise<Outcome> => {
  const { complaints, answers: responses, ...figures } = await crowd.finish()
  return { did, ...figures, details: [responses], broken: [...broken, ...complaints] }
}

/** Some work between two rounds. */
export const randomPause = (leastMs = 1_000, mostMs = 2_500) =>
  sleep(leastMs + Math.random() * (mostMs - leastMs))
