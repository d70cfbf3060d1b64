#!/usr/bin/env node
/**
 * A CI job: makes the workspace settings those of `team.json`, and uploads how many commits each member made yesterday.
 * It needs a key of the workspace with the scopes `settings:write` and `counts:write`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createClient } from '@team-settings/client'

const { TEAM_URL: baseUrl, TEAM_KEY: token, TEAM_WORKSPACE: workspace, TEAM_REPO: repo } = process.env
if (!baseUrl || !token || !workspace || !repo)
  throw new Error('Set TEAM_URL, TEAM_KEY, TEAM_WORKSPACE and TEAM_REPO.')

const { settings, logins } = JSON.parse(readFileSync(process.argv[2] ?? 'team.json', 'utf8'))
const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** Commits of the day by the login of their author. Authors who are not in `team.json` are left out. */
const countCommits = () => {
  const range = [`--since=${day}T00:00:00Z`, `--until=${day}T23:59:59Z`]
  const emails = execFileSync('git', ['log', '--all', '--format=%ae', ...range], { encoding: 'utf8' })
  const counts = new Map()
  for (const email of emails.split('\n')) {
    const login = logins[email]
    if (login) counts.set(login, (counts.get(login) ?? 0) + 1)
  }
  return counts
}

const say = (line) => process.stdout.write(`${line}\n`)

const client = createClient({ baseUrl, token })
const { data: changed } = await client.request('PATCH /api/team/workspaces/{id}/settings', {
  path: { id: workspace },
  body: { settings },
})
say(`The workspace settings have version ${changed.version}.`)

const members = Array.from(countCommits(), ([login, count]) => ({ login, repos: [{ repo, count }] }))
const { data: counted } = await client.request('POST /api/team/commits', {
  body: { workspace, day, members },
})
say(`Commits of ${day}: ${counted.upserted} changed, ${counted.unchanged} unchanged.`)
for (const { login, code } of counted.skipped) say(`Skipped ${login}: ${code}`)
