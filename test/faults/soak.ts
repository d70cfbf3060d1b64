/** Runs all kinds of requests for a long time. Memory and descriptors must not grow, and nothing may fail. */
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { signatureOf } from '../../demo/billing-provider.js'
import { startProviders } from '../service.js'
import { type Fault, watch } from './fault.js'
import { finishFault, startScene } from './scene.js'

const SECONDS = 300
/** The share of the time in which caches fill and code is compiled. */
const WARM_UP = 1 / 4
const SAMPLE_MS = 1_000
/** Per cent a minute. */
const STEEPEST = 1
const DESCRIPTORS = 10

interface Sample {
  minutes: number
  mib: number
  descriptors: number
}

/** The slope of the least-squares line, in per cent of the mean per minute. */
const slopeOf = (samples: Sample[]): number => {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  const [minutes, mib] = [mean((sample) => sample.minutes), mean((sample) => sample.mib)]
  const covariance = mean((sample) => (sample.minutes - minutes) * (sample.mib - mib))
  return (100 * covariance) / mean((sample) => (sample.minutes - minutes) ** 2) / mib
}

export const soak: Fault = {
  name: 'soak',
  play: async (scope, { seconds = SECONDS }) => {
    const { env, providers } = await startProviders({ ...scope, fail: () => {}, passing: () => true })
    const { repohost, services, crowd } = await startScene(scope, {
      excused: [],
      pauseMs: 250,
      env: [{ ...env, REPOHOST_CLIENT_ID: 'stand-in-client', REPOHOST_CLIENT_SECRET: 'stand-in-secret' }],
    })
    const { url = '', child } = services[0] ?? {}
    const { token } = repohost.addUser('visitor')
    const bearer = { Authorization: `Bearer ${crowd.people[0]?.token}` }
    const json = { 'Content-Type': 'application/json' }
    let n = 0
    const page = await (await fetch(`${url}/`)).text()
    const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file = '']) => file)
    const visits: Record<string, [everyMs: number, ask: () => Promise<Response>, expected: number]> = {
      'the page': [500, () => fetch(`${url}/`), 200],
      'its files': [100, () => fetch(url + files[n++ % files.length]), 200],
      'the document': [2_000, () => fetch(`${url}/api/openapi.json`), 200],
      'sign-ins': [
        500,
        () =>
          fetch(`${url}/api/auth/verify`, {
            method: 'POST',
            headers: json,
            body: JSON.stringify({ repohost_token: token }),
          }),
        200,
      ],
      'logins in the browser': [1_000, () => fetch(`${url}/api/auth/repohost`, { redirect: 'manual' }), 302],
      notifications: [
        500,
        () => {
          const body = JSON.stringify({
            id: `evt_${n++}`,
            type: 'customer.subscription.updated',
            created: Math.floor(Date.now() / 1_000),
            data: { object: { id: 'sub_1', object: 'subscription', customer: 'cus_1', status: 'active' } },
          })
          const headers = { ...json, 'Billing-Signature': signatureOf(body) }
          return fetch(`${url}/api/billing-provider/webhook`, { method: 'POST', headers, body })
        },
        200,
      ],
      'model lists': [
        1_000,
        () => fetch(`${url}/api/assistant-a-models?apiKey=${providers.a.key}`, { headers: bearer }),
        200,
      ],
      rejections: [
        1_000,
        () => fetch(`${url}/api/me`, { headers: { Authorization: 'Bearer nonsense' } }),
        401,
      ],
      readiness: [1_000, () => fetch(`${url}/api/ready`), 200],
    }
    const stop = new AbortController()
    const visiting = Object.entries(visits).map(async ([what, [everyMs, ask, expected]]) => ({
      what,
      expected,
      seen: await watch(ask, everyMs, stop.signal),
    }))
    const samples: Sample[] = []
    const sample = async (since: number): Promise<Sample> => {
      const status = await readFile(`/proc/${child?.pid}/status`, 'utf8')
      const kib = Number(status.match(/VmRSS:\s+(\d+)/)?.[1])
      const descriptors = (await readdir(`/proc/${child?.pid}/fd`)).length
      return { minutes: (Date.now() - since) / 60_000, mib: kib / 1_024, descriptors }
    }
    const since = Date.now()
    while (Date.now() < since + seconds * 1_000) {
      await sleep(SAMPLE_MS)
      samples.push(await sample(since))
    }
    stop.abort()
    const visited = await Promise.all(visiting)
    const warm = samples.slice(Math.floor(samples.length * WARM_UP))
    const slope = slopeOf(warm)
    const part = Math.ceil(warm.length / 10)
    const most = (of: Sample[]) => Math.max(...of.map(({ descriptors }) => descriptors))
    const [before, after] = [most(warm.slice(0, part)), most(warm.slice(-part))]
    const broken: string[] = []
    const details = visited.map(({ what, seen }) => {
      const responses = [...seen.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
      return `${what}: ${responses}, longest ${Math.round(seen.longestMs)} ms`
    })
    for (const { what, expected, seen } of visited)
      if ([...seen.statuses.keys()].join() !== String(expected))
        broken.push(`${what}: ${[...seen.statuses.keys()]} for ${expected}`)
    if (slope > STEEPEST) broken.push(`memory grows by ${slope.toFixed(2)} % a minute`)
    if (after > before + DESCRIPTORS) broken.push(`descriptors: ${before}, then ${after}`)
    const first = warm[0]?.mib.toFixed(0)
    const last = warm.at(-1)?.mib.toFixed(0)
    details.unshift(
      `memory: ${slope.toFixed(2)} % a minute (${first} MiB after the warm-up, ${last} at the end); descriptors ${before}, then ${after}`,
    )
    const outcome = await finishFault(crowd, `${Math.round(seconds / 60)} minutes of everything`, broken)
    return { ...outcome, details: [...details, ...(outcome.details ?? [])] }
  },
}
