/** Text to copy into files, shells and other pages. */
import { start } from './start.js'
import { Copy } from './ui.js'

/** A block of text with a button that copies it. `what` names the text if the title doesn't. */
export const Snippet = ({ title, what = title, text }: { title: string; what?: string; text: string }) => (
  <div class="stack tight">
    <div class="row apart">
      <h3>{title}</h3>
      <Copy text={text} what={what} />
    </div>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be scrollable by keyboard */}
    <pre class="diff" tabIndex={0}>
      {text}
    </pre>
  </div>
)

/** A value that is shown once, such as a secret. */
export const CopyField = ({ label, what, text }: { label: string; what: string; text: string }) => (
  <div class="row low">
    <label class="field grow">
      {label}
      <input
        class="wide-input mono"
        readOnly
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
    </label>
    <Copy text={text} what={what} />
  </div>
)

/** The configuration that WakaTime plugins read. */
export const wakatimeConfig = (secret: string) => `[settings]
api_url = ${location.origin}/api/wakatime/v1
api_key = ${secret}
[git]
project_from_git_remote = true`

/** A call that's possible with these scopes. */
const curl = (scopes: readonly string[], bearer: string, workspaceId = 'WORKSPACE_ID') => {
  const call = (path: string, rest: string[] = []) =>
    [
      'curl --fail-with-body',
      `"${location.origin}/api${path}"`,
      `-H "Authorization: Bearer ${bearer}"`,
      ...rest,
    ].join(' \\\n  ')
  const send = (body: unknown) => [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(body)}'`]
  if (scopes.includes('settings:read')) return call('/projects')
  if (scopes.includes('activity:read')) return call('/team/active-minutes')
  if (scopes.includes('dashboard:read')) return call(`/team/dashboard?workspace=${workspaceId}`)
  if (scopes.includes('settings:write')) {
    return call(`/team/workspaces/${workspaceId}/settings`, ['-X PATCH', ...send({ settings: {} })])
  }
  const day = new Date().toISOString().slice(0, 10)
  return call('/team/commits', send({ workspace: workspaceId, day, members: [] }))
}

export const curlCommand = (key: { scopes: string[]; secret: string }, workspaceId?: string) =>
  curl(key.scopes, key.secret, workspaceId)

const indent = (text: string, depth: number) => text.replaceAll('\n', `\n${' '.repeat(depth)}`)

const isGitlab = start.repohost_kind === 'gitlab'

/** Where a CI workflow finds the key's secret. */
export const secretsOfCi = isGitlab ? 'CI/CD variables of the project' : 'secrets of the repository'

/** A workflow that makes the call every night or as scheduled. */
export const workflow = (key: { scopes: string[] }, workspaceId?: string) => {
  const command = curl(key.scopes, '$TEAM_KEY', workspaceId)
  if (isGitlab) {
    return `team:
  image:
    name: curlimages/curl
    entrypoint: ['']
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
  script:
    - |
      ${indent(command, 6)}`
  }
  return `on:
  schedule: [{ cron: '15 2 * * *' }]
jobs:
  team:
    runs-on: ubuntu-latest
    steps:
      - run: |
          ${indent(command, 10)}
        env:
          TEAM_KEY: \${{ secrets.TEAM_KEY }}`
}
