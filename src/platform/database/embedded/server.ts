import { type ChildProcess, spawn } from 'node:child_process'
import { open, readFile, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { OperatorError } from '../../process/operator-error.js'
import { type Account, type Log, serverEnvironment } from './account.js'
import type { Address } from './socket.js'
import { lockOwnership, session, urlOf } from './socket.js'

/** Six times the default. After a crash, the WAL since the last checkpoint is replayed, which takes seconds. */
const CHECKPOINT_SECONDS = 1_800
/** Recovery after a crash can take a while. */
const START_MS = 120_000
const STOP_MS = 8_000

export interface EmbeddedOptions {
  dataDir: string
  maxConnections: number
  /** False only for throw-away test databases: no fsync. */
  durable?: boolean
  /** The longest time between two checkpoints. The first change to a page after a checkpoint writes the whole page to the WAL. */
  checkpointSeconds?: number
  log: Log
  /** Cancels the start, whose promise rejects once every process it has started is gone. */
  stopped?: AbortSignal
}

/** The running server. If it dies unexpectedly (say, out of memory), it's restarted on the same socket. */
export class Server {
  readonly url: string
  private child: ChildProcess | undefined
  /** Resolves when `child` has ended, or couldn't be started. */
  private ended = Promise.resolve()
  private owner: postgres.Sql | undefined
  private revival = Promise.resolve()
  private readonly stopping = new AbortController()

  constructor(
    private readonly native: string,
    private readonly cluster: string,
    private readonly logFile: string,
    private readonly address: Address,
    password: string,
    private readonly account: Account,
    private readonly options: EmbeddedOptions,
  ) {
    this.url = urlOf(address, password)
  }

  /** Ends the server and any start or restart in progress, cleanly or, once `forceSignal` is aborted, by force. */
  async stop(forceSignal: AbortSignal = AbortSignal.timeout(STOP_MS)): Promise<void> {
    this.stopping.abort()
    this.release()
    await this.end(forceSignal)
    await this.revival
  }

  /** Rejects once `stop` is called, or if the server doesn't start. Nothing is running then. */
  async launch(): Promise<void> {
    const log = await open(this.logFile, 'a', 0o600)
    const logStart = (await log.stat()).size
    try {
      // Nothing is awaited between this check and the spawn, so `stop` either finds the child or prevents it.
      this.stopping.signal.throwIfAborted()
      this.spawn(log.fd)
    } finally {
      await log.close()
    }
    try {
      this.owner = await this.own()
    } catch (error) {
      await this.end(AbortSignal.timeout(STOP_MS))
      if (error instanceof OperatorError) throw error
      const said = (await readFile(this.logFile, 'utf8')).slice(logStart).trim().split('\n')
      throw await explainStartFailure(
        this.cluster,
        'The embedded PostgreSQL didn’t start; its log says:\n',
        said.slice(-5).join('\n'),
        error,
      )
    }
    this.ended.then(() => {
      this.revival = this.revive()
    })
  }

  private spawn(log: number): void {
    const settings = {
      listen_addresses: '',
      port: this.address.port,
      // A list, in which quotes turn whatever is between them into one name.
      unix_socket_directories: `"${this.address.host.replaceAll('"', '""')}"`,
      unix_socket_permissions: '0700',
      max_connections: this.options.maxConnections,
      // With frequent checkpoints, whole pages would make up most of the WAL.
      checkpoint_timeout: `${this.options.checkpointSeconds ?? CHECKPOINT_SECONDS}s`,
      wal_compression: 'on',
      ...(this.options.durable === false && {
        fsync: 'off',
        synchronous_commit: 'off',
        full_page_writes: 'off',
      }),
    }
    const child = spawn(
      join(this.native, 'bin', 'postgres'),
      [
        '-D',
        this.cluster,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...this.account,
        cwd: '/',
        env: serverEnvironment(),
        detached: true,
        stdio: ['ignore', log, log],
      },
    )
    this.child = child
    this.ended = new Promise((resolveEnd) => {
      child.once('exit', () => resolveEnd())
      // A process that couldn't be started never exits. A process that couldn't be signaled still will.
      child.on('error', () => child.pid ?? resolveEnd())
    })
  }

  /** Waits until the server responds, and takes ownership of it. */
  private async own(): Promise<postgres.Sql> {
    const owner = session(this.url)
    const latest = Date.now() + START_MS
    let exited = false
    this.ended.then(() => {
      exited = true
    })
    for (;;) {
      try {
        if (await lockOwnership(owner)) return owner
        throw new OperatorError(`Another process of this service took over ${this.cluster}.`)
      } catch (error) {
        const isOver = exited || this.stopping.signal.aborted || Date.now() > latest
        if (isOver || error instanceof OperatorError) {
          await owner.end({ timeout: 1 })
          throw error
        }
        await sleep(25)
      }
    }
  }

  private async revive(): Promise<void> {
    this.release()
    const { signal } = this.stopping
    for (let attempt = 1; !signal.aborted; attempt++) {
      this.options.log.error('the embedded PostgreSQL ended unexpectedly: starting it again')
      try {
        return await this.launch()
      } catch (error) {
        if (signal.aborted) return
        this.options.log.error(String(error))
        await sleep(Math.min(attempt * 200, 5_000), undefined, { signal }).catch(() => {})
      }
    }
  }

  private release(): void {
    this.owner?.end({ timeout: 0 }).catch(() => {})
  }

  private async end(forceSignal: AbortSignal): Promise<void> {
    const { child, ended } = this
    if (!child) return
    const force = () => child.kill('SIGQUIT')
    child.kill('SIGINT')
    // A suspended process wouldn't notice the signal.
    child.kill('SIGCONT')
    if (forceSignal.aborted) force()
    else forceSignal.addEventListener('abort', force)
    await ended
    forceSignal.removeEventListener('abort', force)
  }
}

/** File systems without a size report 0 blocks. A failure here mustn't hide the original one. */
const isDiskFull = (path: string): Promise<boolean> =>
  statfs(path).then(
    ({ blocks, bavail }) => blocks > 0 && bavail === 0,
    () => false,
  )

/**
 * A database program's error. It begins with a sentence about the full disk, if that explains it. @param said the
 * program's output, which is empty if its log is on the same disk
 */
export const explainStartFailure = async (
  cluster: string,
  what: string,
  said: string,
  cause: unknown,
): Promise<OperatorError> => {
  const isExplained = said.includes('No space left on device') || (await isDiskFull(dirname(cluster)))
  const full = `The disk of ${cluster} is full: free space on it, then start again.`
  const text = isExplained ? `${full}${said && `\nDetails:\n${said}`}` : `${what}${said}`
  return new OperatorError(text, { cause })
}
