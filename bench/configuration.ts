/**
 * The configuration of a workspace at its limits, read, tried and replaced: time, the longest pause of the event loop, and
 * memory. Limits are those of schemas/limits.ts.
 */

import { limits } from '../schemas/limits.js'
import { benchmark, createWorkspace, longestStall, METRICS_PORT, memoryOf, prepare, say } from './harness.js'

/** An owner and a repository of the longest names. */
const OWNER = `o${'w'.repeat(97)}n`
const nameOf = (index: number) => `${OWNER}/${String(index).padStart(limits.repo_length, 'r')}`
const projects = (count: number, settings: (index: number) => object) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [nameOf(index), { settings: settings(index) }]),
  )
const keys = (count: number, value: unknown) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`ext.key${String(index).padStart(6, '0')}`, value]),
  )
const [patterns, idle_window_minutes] = [
  [`${OWNER}/*`, ...Array.from({ length: 49 }, (_, n) => `acme/*a*${n}*`)],
  15,
]

const large = Math.floor(limits.workspace_bytes / limits.settings_bytes)
const small = Math.floor(limits.workspace_bytes / limits.workspace_bytes_per_settings)
const text = (mark: string, bytes: number) => mark.repeat(bytes - '{"ext.key000000":""}'.length)
const configurations: Record<string, (mark: string) => object> = {
  'settings of 256 KiB in small keys, 13,000 of them locked': (mark) => {
    const settings = keys(13_000, mark)
    return { settings, locked: Object.keys(settings), idle_window_minutes, patterns }
  },
  [`${large} overrides of 256 KiB in one value`]: (mark) => ({
    patterns,
    projects: projects(large, () => keys(1, text(mark, limits.settings_bytes))),
  }),
  [`${small} overrides, the most`]: (mark) => ({
    patterns,
    projects: projects(small, () => keys(1, text(mark, limits.workspace_bytes_per_settings))),
  }),
  'the most members and items, in overrides of 10,000 keys': (mark) => ({
    patterns,
    projects: projects(Math.floor(limits.configuration_json_values / 10_050), () => keys(10_000, mark)),
  }),
}

await benchmark(async (cleanUp) => {
  const setting = await prepare(cleanUp, { METRICS_PORT: String(METRICS_PORT) })
  const { service, signIn } = setting
  say('| configuration | step | sent | answer | time | longest pause | memory so far |')
  say('|---|---|---|---|---|---|---|')
  for (const [index, [name, write]] of Object.entries(configurations).entries()) {
    const boss = await signIn(`boss-${index}`)
    const path = `/api/team/workspaces/${await createWorkspace(service.url, [boss])}/configuration`
    const step = async (what: string, method: string, query = '', body?: string) => {
      await longestStall()
      const begin = performance.now()
      const reply = await fetch(`${service.url}${path}${query}`, {
        method,
        headers: {
          Authorization: `Bearer ${boss.token}`,
          'Content-Type': 'application/json',
          Connection: 'close',
        },
        body: body ?? null,
      })
      const bytes = (await reply.arrayBuffer()).byteLength
      const mebibytes = (count: number) => `${(count / 2 ** 20).toFixed(1)} MiB`
      const cells = [
        name,
        what,
        mebibytes(body?.length ?? 0),
        `${reply.status}, ${mebibytes(bytes)}`,
        `${((performance.now() - begin) / 1_000).toFixed(1)} s`,
        `${(await longestStall()).toFixed(0)} ms`,
        `${(await memoryOf(service.pid, 'VmHWM')).toFixed(0)} MiB`,
      ]
      say(`| ${cells.join(' | ')} |`)
    }
    const [one, other] = [JSON.stringify(write('a')), JSON.stringify(write('b'))]
    await step('first apply', 'PUT', '', one)
    await step('pull', 'GET')
    await step('diff without a difference', 'PUT', '?dry_run=true', one)
    await step('diff of all', 'PUT', '?dry_run=true', other)
    await step('apply all', 'PUT', '', other)
    await step('remove all', 'PUT', '', '{"settings":{},"locked":[],"projects":{}}')
  }
})
