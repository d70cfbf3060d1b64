#!/usr/bin/env node
/**
 * A CI job: uploads how many commits each member made yesterday. It needs a key of the workspace with the scope
 * `counts:write`, and a file with the login of each author's email address.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createClient } from '@team-settings/client'

const {
  TEAM_SETTINGS_URL: baseUrl,
  TEAM_SETTINGS_KEY: token,
  TEAM_SETTINGS_WORKSPACE: workspace,
} = process.env
const [, , repo, file = 'logins.json'] = process.argv
if (!baseUrl || !token || !workspace)
  throw new Error('Set TEAM_SETTINGS_URL, TEAM_SETTINGS_KEY and TEAM_SETTINGS_WORKSPACE.')
if (!repo) throw new Error('Name the repository: counts.mjs OWNER/REPO [FILE]')

const logins = JSON.parse(readFileSync(file, 'utf8'))
const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

/** The day's commits, by the author's login. Authors who aren't in the file are left out. */
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
const members = Array.from(countCommits(), ([login, count]) => ({ login, repos: [{ repo, count }] }))
const { data: counted } = await client.request('POST /api/team/commits', {
  body: { workspace, day, members },
})
say(`Commits of ${day}: ${counted.upserted} changed, ${counted.unchanged} unchanged.`)
for (const { login, code } of counted.skipped) say(`Skipped ${login}: ${code}`)
