/** The workflows of `examples/ci`, run step by step as the runners of the hosts do. */
import { execFile } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { projectRoot } from '../src/platform/process/root.js'
import { temporaryFolder } from './process.js'
import { startService } from './service.js'

type Env = Record<string, string>

interface Workflow {
  env: Env
  jobs: Record<string, { steps: { run?: string; env?: Env }[] }>
}

interface Step {
  run: string
  env: Env
}

const folderOf = join(projectRoot, 'examples/ci')
const read = async (name: string) => parse(await readFile(join(folderOf, name), 'utf8'))

/** The steps of a job of GitHub or Forgejo, with the values of `${{ … }}`. */
const actionSteps = async (name: string, job: string, values: Env): Promise<Step[]> => {
  const { env, jobs } = (await read(name)) as Workflow
  const fill = (some: Env = {}) =>
    Object.fromEntries(
      Object.entries(some).map(([key, value]) => [
        key,
        value.replace(/\$\{\{ (\S+) \}\}/g, (_, expression: string) => {
          const known = values[expression]
          if (known === undefined) throw new Error(`${expression} is not known`)
          return known
        }),
      ]),
    )
  return (jobs[job]?.steps ?? []).flatMap((step) =>
    step.run === undefined ? [] : [{ run: step.run, env: { ...fill(env), ...fill(step.env) } }],
  )
}

/** GitLab runs all lines of a job in one shell. */
const gitlabSteps = async (job: string, env: Env): Promise<Step[]> => {
  const workflow = await read('gitlab.yml')
  return [{ run: [...workflow.default.before_script, ...workflow[job].script].join('\n'), env }]
}

/** Stands for the host that takes comments. */
const startHost = async (t: Test) => {
  const comments: { path: string | undefined; authorization: string | undefined; body: string }[] = []
  const server = createServer(async (request, response) => {
    const { body } = JSON.parse(await text(request))
    comments.push({ path: request.url, authorization: request.headers.authorization, body })
    response.statusCode = 201
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { comments, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

for (const host of ['github', 'forgejo', 'gitlab'] as const) {
  t.test(`${host}: a pull request gets a comment, a merge is applied, and commits are counted`, async (t) => {
    const service = await startService(t)
    const { comments, url } = await startHost(t)
    const ada = await service.signIn('ada')
    const { id } = await service.workspace(ada, { patterns: ['acme/*'] })
    const at = `/api/team/workspaces/${id}`
    await ada.put(`${at}/configuration`, { settings: { 'ext.theme': 'dark', 'ext.old': 1 } })
    const keyWith = async (...scopes: string[]) =>
      (await ada.post(`${at}/keys`, { name: scopes.join(), scopes })).body.secret
    const keys = {
      TEAM_SETTINGS_READ_KEY: await keyWith('settings:read'),
      TEAM_SETTINGS_KEY: await keyWith('settings:read', 'settings:write'),
      TEAM_SETTINGS_COUNTS_KEY: await keyWith('counts:write'),
    }
    const folder = await temporaryFolder(t)
    await cp(folderOf, folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    const runner: Env = {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      npm_config_cache: join(folder, '.npm'),
      npm_config_registry: 'http://127.0.0.1:1/',
      GITHUB_API_URL: url,
      GITHUB_REPOSITORY: 'acme/team',
      CI_API_V4_URL: url,
      CI_PROJECT_ID: '7',
      CI_MERGE_REQUEST_IID: '3',
      CI_PROJECT_PATH: 'acme/team',
    }
    const variables: Env = { TEAM_SETTINGS_URL: service.url, TEAM_SETTINGS_WORKSPACE: id }
    const steps = (job: string) =>
      host === 'gitlab'
        ? gitlabSteps(job, { ...variables, ...keys, COMMENT_TOKEN: 'a-token' })
        : actionSteps(`${host}.yml`, job, {
            ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [`vars.${name}`, value])),
            ...Object.fromEntries(Object.entries(keys).map(([name, value]) => [`secrets.${name}`, value])),
            'github.token': 'a-token',
            'github.event.number': '3',
          })
    const shell = (run: string, env: Env = {}) =>
      promisify(execFile)('bash', ['-eo', 'pipefail', '-c', run], { cwd: folder, env: { ...runner, ...env } })
    const runJob = async (job: string) => {
      let out = ''
      for (const { run, env } of await steps(job)) out += (await shell(run, env)).stdout
      return out
    }
    const identity = 'git -c user.name=Ada -c user.email=ada@example.com'
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    await shell(
      `git init --quiet && git add team-settings.json && ${identity} commit --quiet --message 'Larger text'`,
      { GIT_AUTHOR_DATE: `${yesterday}T12:00:00Z`, GIT_COMMITTER_DATE: `${yesterday}T12:00:00Z` },
    )

    await runJob('diff')
    t.equal(comments.length, 1)
    t.same(
      [comments[0]?.path, comments[0]?.authorization],
      {
        github: ['/repos/acme/team/issues/3/comments', 'Bearer a-token'],
        forgejo: ['/repos/acme/team/issues/3/comments', 'token a-token'],
        gitlab: ['/projects/7/merge_requests/3/notes', 'Bearer a-token'],
      }[host],
    )
    t.ok(comments[0]?.body.includes('\n| `workspace` | `ext.old` | `1` |  |\n'))

    await runJob('apply')
    t.same((await ada.get(`${at}/settings`)).body.settings, { 'ext.theme': 'dark', 'ext.fontSize': 14 })
    t.equal((await ada.get(`${at}/settings/versions`)).body.versions[0].reason, 'Larger text')
    await runJob('diff')
    t.equal(comments[1]?.body, 'The team settings stay as they are.\n')
    t.match(await runJob('counts'), /1 changed, 0 unchanged/)
  })
}
