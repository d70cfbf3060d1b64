/** Cuts connections to the database, cancels statements and crashes the server, all while callers are at work. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.js'
import type { Fault } from './fault.js'
import { finishFault, startScene } from './scene.js'

const RESETS = 600
/** For each of these there is one of the others. */
const RESETS_PER = { cancel: 5, crash: 20 }

export const connectionsCut: Fault = {
  name: 'connections-cut',
  play: async (scope, { rounds = RESETS }) => {
    let line: TcpProxy | undefined
    const { admin, services, crowd } = await startScene(scope, {
      through: async (url) => {
        line = await startTcpProxy(scope, url)
        return line.url
      },
    })
    const proxy = line as unknown as TcpProxy

    /** Resets a connection at a random point. */
    const cutSome = () => {
      let left = 1 + Math.floor(Math.random() * 6)
      proxy.cut = () => {
        if (left-- > 0) return false
        proxy.cut = undefined
        return true
      }
    }
    const resets = async () => {
      for (let done = 0; done < rounds; done++) {
        if (done % 10 === 0) proxy.reset()
        else cutSome()
        await sleep(20 + Math.random() * 180)
      }
      proxy.cut = undefined
    }
    const cancels = async () => {
      const wanted = Math.ceil(rounds / RESETS_PER.cancel)
      let done = 0
      for (let asked = 0; done < wanted && asked < 40 * wanted; asked++) {
        const rows = await admin<{ done: boolean }[]>`
          select pg_cancel_backend(pid) as done from pg_stat_activity
          where datname = current_database() and state = 'active' and pid <> pg_backend_pid()
          order by random() limit 1`.catch(() => [])
        done += rows.length
        await sleep(Math.random() * 40)
      }
      return done
    }
    const crashes = async () => {
      for (let done = 0; done < rounds / RESETS_PER.crash; done++) {
        await sleep(1_000 + Math.random() * 2_000)
        const [row] = await admin<{ pid: number }[]>`
          select pid from pg_stat_activity where backend_type = 'checkpointer'`.catch(() => [])
        // The end of the checkpointer is a crash of the whole server: every session is lost, and it recovers.
        if (row) process.kill(row.pid, 'SIGKILL')
      }
      return Math.ceil(rounds / RESETS_PER.crash)
    }
    const [, cancelled, crashed] = await Promise.all([resets(), cancels(), crashes()])
    await crowd.recovered()
    const broken = services[0]?.child.exitCode === null ? [] : ['the service has ended']
    return finishFault(crowd, `${rounds} resets, ${cancelled} cancels, ${crashed} crashes`, broken)
  },
}
