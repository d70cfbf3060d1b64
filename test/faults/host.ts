/** The repository host fails in every way it can: callers who need it get an error in time, and others notice nothing. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault as Misbehavior } from '../../demo/stand-in.js'
import { faultStatuses } from '../service.js'
import { type Fault, watch } from './fault.js'
import { finishFault, startScene } from './scene.js'

const SECONDS = 5
/** How many need the host at any moment. */
const ASKERS = 20
/** The host has 5 s. */
const TOLD_MS = 7_000

export const hostDown: Fault = {
  name: 'host-down',
  play: async (scope, { seconds = SECONDS }) => {
    const { repohost, services, crowd } = await startScene(scope, { callers: 2, excused: [502, 504] })
    const url = services[0]?.url ?? ''
    const { token } = repohost.addUser('asker')
    const broken: string[] = []
    const details: string[] = []
    const verify = () =>
      fetch(`${url}/api/auth/verify`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ repohost_token: token }),
      })
    const person = crowd.people[0]
    const pull = () => fetch(`${url}/api/team/me`, { headers: { Authorization: `Bearer ${person?.token}` } })
    const faults: (Misbehavior | undefined)[] = [undefined, ...(Object.keys(faultStatuses) as Misbehavior[])]
    for (const fault of faults) {
      const stop = new AbortController()
      repohost.fault = fault
      const others = watch(pull, 25, stop.signal)
      const asking = Promise.all(Array.from({ length: ASKERS }, () => watch(verify, 100, stop.signal)))
      await sleep(seconds * 1_000)
      stop.abort()
      const asked = await asking
      const statuses = [...new Set(asked.flatMap((seen) => [...seen.statuses.keys()]))]
      const told = Math.max(...asked.map(({ longestMs }) => longestMs))
      const rest = await others
      const expected = fault === undefined ? 200 : faultStatuses[fault]
      if (statuses.join() !== String(expected)) broken.push(`${fault}: answered ${statuses}`)
      if (told > TOLD_MS) broken.push(`${fault}: told after ${Math.round(told)} ms`)
      if ([...rest.statuses.keys()].join() !== '200')
        broken.push(`${fault}: others ${[...rest.statuses.keys()]}`)
      details.push(
        `${fault ?? 'sound'}: sign-ins ${statuses} within ${Math.round(told)} ms; others' longest ${Math.round(rest.longestMs)} ms`,
      )
    }
    repohost.fault = undefined
    const outcome = await finishFault(crowd, `${faults.length - 1} ways to fail, each ${seconds} s`, broken)
    return { ...outcome, details: [...details, ...(outcome.details ?? [])] }
  },
}
