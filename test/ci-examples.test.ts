/** The workflows of `examples/ci`, run step by step as the runners of the hosts do. */
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
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

const service = await startService(t)
const ada = await service.signIn('ada')

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

const LOGINS = new Map([
  ['github', 'github-actions[bot]'],
  ['forgejo', 'forgejo-actions'],
  ['gitlab', 'project_7_bot'],
])

interface Comment {
  id: number
  login: string
  body: string
}

/** A stand-in for the host with the comments. Each page has one comment, so that there are several pages. */
const startHost = async (t: Test, host: string) => {
  const isGitLab = host === 'gitlab'
  const login = LOGINS.get(host) ?? ''
  const comments: Comment[] = []
  const list = isGitLab ? '/projects/7/merge_requests/3/notes' : '/repos/acme/team/issues/3/comments'
  const one = isGitLab ? list : '/repos/acme/team/issues/comments'
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    const { pathname, searchParams } = new URL(url, 'http://host')
    const sent = await text(request)
    const known = comments.find(({ id }) => pathname === `${one}/${id}`)
    if (headers.authorization !== `${host === 'forgejo' ? 'token' : 'Bearer'} a-token`)
      response.statusCode = 401
    else if (isGitLab && method === 'GET' && pathname === '/user') {
      response.end(JSON.stringify({ username: login }))
    } else if (method === 'GET' && pathname === list) {
      const page = Number(searchParams.get('page') ?? 1)
      if (page < comments.length)
        response.setHeader('link', `<${`http://${headers.host}${list}?page=${page + 1}`}>; rel="next"`)
      response.end(
        JSON.stringify(
          comments.slice(page - 1, page).map(({ id, login, body }) => ({
            id,
            body,
            ...(isGitLab ? { author: { username: login } } : { user: { login } }),
          })),
        ),
      )
    } else if (method === 'POST' && pathname === list) {
      comments.push({ id: comments.length + 1, login, body: JSON.parse(sent).body })
      response.statusCode = 201
    } else if (method === (isGitLab ? 'PUT' : 'PATCH') && known) known.body = JSON.parse(sent).body
    else response.statusCode = 404
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { comments, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** The checkout of all jobs. Each of them installs the client, and the first one does it for the others. */
const folder = await temporaryFolder(t)
const programs = join(folder, 'programs')
const installs = new Set<string>()
const shell = async (run: string, env: Env = {}) => {
  // After the first job, bypasses npm, which makes npx slow.
  const path = installs.size > 0 ? [programs] : []
  return promisify(execFile)('bash', ['-eo', 'pipefail', '-c', run], {
    cwd: folder,
    env: {
      PATH: [...path, process.env.PATH].join(':'),
      HOME: folder,
      npm_config_cache: join(folder, '.npm'),
      npm_config_registry: 'http://127.0.0.1:1/',
      ...env,
    },
  })
}
await cp(folderOf, folder, { recursive: true })
await writeFile(join(folder, 'package.json'), '{"type":"module"}')
await mkdir(programs)
await writeFile(join(programs, 'npx'), '#!/bin/sh\nshift\nPATH="node_modules/.bin:$PATH" exec "$@"\n', {
  mode: 0o755,
})
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
await shell(
  `git init --quiet && git add team-settings.json &&
    git -c user.name=Ada -c user.email=ada@example.com commit --quiet --message 'Larger text'`,
  { GIT_AUTHOR_DATE: `${yesterday}T12:00:00Z`, GIT_COMMITTER_DATE: `${yesterday}T12:00:00Z` },
)

t.test('a job runs when the file changes, and every night', async (t) => {
  const paths = ['team-settings.json']
  for (const host of ['github', 'forgejo']) {
    t.same((await read(`${host}.yml`)).on, {
      pull_request: { paths },
      push: { branches: ['main'], paths },
      schedule: [{ cron: '15 2 * * *' }],
    })
  }
  const { diff, apply, drift, counts } = await read('gitlab.yml')
  const nightly = [{ if: '$CI_PIPELINE_SOURCE == "schedule"' }]
  t.same(
    [diff.rules, apply.rules, drift.rules, counts.rules],
    [
      [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"', changes: paths }],
      [
        {
          if: '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH',
          changes: paths,
        },
      ],
      nightly,
      nightly,
    ],
  )
})

for (const host of ['github', 'forgejo', 'gitlab'] as const) {
  t.test(
    `${host}: a pull request gets one comment, drift is found, a merge is applied, and commits are counted`,
    async (t) => {
      const { comments, url } = await startHost(t, host)
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
      const runner: Env = {
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
              ...Object.fromEntries(
                Object.entries(variables).map(([name, value]) => [`vars.${name}`, value]),
              ),
              ...Object.fromEntries(Object.entries(keys).map(([name, value]) => [`secrets.${name}`, value])),
              'github.token': 'a-token',
              'github.event.number': '3',
            })
      const runJob = async (job: string) => {
        let out = ''
        let installing = ''
        for (const { run, env } of await steps(job)) {
          const rest = run.replace(/^npm install .*$/m, (line) => {
            installing = line
            return installs.has(line) ? ':' : line
          })
          out += (await shell(rest, { ...runner, ...env })).stdout
          if (installing) installs.add(installing)
        }
        t.strictSame([...installs], [installing])
        return out
      }
      // Other people's comments stay, whatever they say.
      comments.push({ id: 1, login: 'eve', body: '<!-- team-settings -->' })
      await runJob('diff')
      t.equal(comments.length, 2)
      t.ok(comments[1]?.body.startsWith('<!-- team-settings -->\n**Team settings:** '))
      t.ok(comments[1]?.body.includes('\n| `workspace` | `ext.old` | `1` |  |\n'))
      t.hasStrict(await runJob('drift').catch((error) => error), { code: 2 })

      await runJob('apply')
      t.same((await ada.get(`${at}/settings`)).body.settings, { 'ext.theme': 'dark', 'ext.fontSize': 14 })
      t.equal((await ada.get(`${at}/settings/versions`)).body.versions[0].reason, 'Larger text')
      await runJob('diff')
      t.same(
        comments.map(({ body }) => body),
        ['<!-- team-settings -->', '<!-- team-settings -->\nThe team settings stay as they are.\n'],
      )
      t.match(await runJob('counts'), /1 changed, 0 unchanged/)
    },
  )
}
