/** The commands with which an operator handles accounts and workspaces, beside a service of two instances. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limits } from '../schemas/limits.js'
import {
  deleteAndEraseAccount,
  describeAccount,
  disableAccount,
  enableAccount,
  exportAccountOf,
  findAccount,
} from '../src/operator/accounts.js'
import { describeKeys, revokeKeyOf } from '../src/operator/keys.js'
import { describeWorkspaces, findWorkspace, transferWorkspace } from '../src/operator/workspaces.js'
import { writeExport } from '../src/operator/write-export.js'
import { OperatorError } from '../src/platform/process/operator-error.js'
import { launchProgram, onDatabase, temporaryFolder } from './process.js'
import { type Caller, type Reply, type Service, startService } from './service.js'
import { until } from './until.js'

const team = '/api/team/workspaces'
const { signal } = new AbortController()
const service = await startService(t)
const beside = await startService(t, { beside: service })

const command =
  (program: string) =>
  async (t: Test, ...args: string[]) => {
    const { ended, output } = launchProgram(t, `src/bin/${program}`, onDatabase(service.databaseUrl), args)
    return { code: await ended, output: output() }
  }
const users = command('users')
const workspaces = command('workspaces')

const outcome = ({ status, body }: Reply) => [status, body?.code]
const DISABLED = [403, 'account_disabled']

const outcomesOf = (token: string, path: string) =>
  Promise.all(
    [service, beside].map(async (instance) =>
      outcome(await instance.request('GET', path, { headers: { Authorization: `Bearer ${token}` } })),
    ),
  )

const signInAgain = ({ repohostToken }: Caller, instance: Service = service) =>
  instance.request('POST', '/api/auth/verify', { body: { repohost_token: repohostToken } })

const idOf = async (caller: Caller): Promise<string> => (await caller.get('/api/me')).body.id

/** The output of `workspaces list --search`. */
const lines = async (search: string) => {
  const found: string[] = []
  for await (const line of describeWorkspaces(service.database, search)) found.push(line)
  return found
}

/** The printed lines that end with a number, by name, because the tables of a bundle have another order. */
const countsOf = (output: string) => output.match(/(?<=^ {2}).*: \d+$/gm)?.sort()

/** The entries of the audit trail that the operator made, oldest first. */
const operatorEntries = async (admin: Caller, workspace: string) =>
  (await admin.get(`${team}/${workspace}/audit`)).body.entries
    .filter(({ actor }: { actor: string }) => actor === 'operator')
    .map(({ action, target, details }: Record<string, unknown>) => ({ action, target, details }))
    .reverse()

t.test('a disabled account is rejected on every instance until it’s enabled', async (t) => {
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { members: [bob] })
  await ada.patch(`${team}/${id}/members`, { login: 'bob', role: 'admin' })
  const own = (await bob.post('/api/me/keys', { name: 'laptop', scopes: ['settings:read'] })).body.secret
  const body = { name: 'nightly', scopes: ['settings:read'] }
  const ofWorkspace = (await bob.post(`${team}/${id}/keys`, body)).body.secret
  const other = (await ada.post(`${team}/${id}/keys`, body)).body.secret
  const patterns = `${team}/${id}/patterns`
  const all = async () => [
    await outcomesOf(bob.token, '/api/me'),
    await outcomesOf(own, patterns),
    await outcomesOf(ofWorkspace, patterns),
    await outcomesOf(other, patterns),
  ]
  const OK = [200, undefined]
  t.same(await all(), Array(4).fill([OK, OK]))

  const disabling = await users(t, 'disable', 'BOB')
  t.same(disabling, { code: 0, output: 'The account bob is disabled.\n' })
  const rejected = [DISABLED, DISABLED]
  const expected = JSON.stringify([rejected, rejected, rejected, [OK, OK]])
  await until(async () => JSON.stringify(await all()) === expected, 'every instance rejects the account')
  t.same(outcome(await bob.delete('/api/me')), DISABLED, 'changes as well')
  const cookie = await service.request('GET', '/api/me', { headers: { Cookie: `svc_token=${bob.token}` } })
  t.same(outcome(cookie), DISABLED, 'with the cookie as well')
  const everywhere = await bob.post('/api/auth/logout', { everywhere: true })
  t.same(outcome(everywhere), DISABLED)
  for (const instance of [service, beside]) t.same(outcome(await signInAgain(bob, instance)), DISABLED)

  const { members } = (await ada.get(`${team}/${id}/members`)).body
  t.same(
    members.map(({ login, role }: Record<string, string>) => `${login} ${role}`),
    ['ada admin', 'bob admin'],
    'the data stays',
  )
  const user = await findAccount(service.database, 'bob')
  const described = await describeAccount(service.database, user)
  t.match(described.join('\n'), /^bob, id .*\n {2}disabled since 20\d\d-/)
  t.equal(await disableAccount(service.database, user), false)

  const enabling = await users(t, 'enable', 'bob')
  t.same(enabling, { code: 0, output: 'The account bob is enabled.\n' })
  const ended = [401, 'token_revoked']
  const after = JSON.stringify([[ended, ended], ...Array(3).fill([OK, OK])])
  await until(async () => JSON.stringify(await all()) === after, 'keys work again, and sessions stay ended')
  t.equal((await signInAgain(bob)).status, 200)
  t.equal(await enableAccount(service.database, await findAccount(service.database, 'bob')), false)
  t.same(await operatorEntries(ada, id), [
    { action: 'member.disabled', target: 'bob', details: {} },
    { action: 'member.enabled', target: 'bob', details: {} },
  ])
})

t.test('no concurrent sign-in outlives disabling the account', async (t) => {
  const cyd = await service.signIn('cyd')
  const user = await findAccount(service.database, 'cyd')
  const signIns = Array.from({ length: 6 }, (_, n) => signInAgain(cyd, n % 2 ? service : beside))
  const [replies] = await Promise.all([Promise.all(signIns), disableAccount(service.database, user)])
  t.same(outcome(await signInAgain(cyd)), DISABLED)
  const tokens = replies.flatMap(({ body }) => body.token ?? [])
  const states = async () => (await Promise.all(tokens.map((token) => outcomesOf(token, '/api/me')))).flat()
  await until(
    async () => (await states()).every(([status, code]) => `${status} ${code}` === DISABLED.join(' ')),
    'every session is rejected',
  )
  await enableAccount(service.database, user)
  await until(
    async () => (await states()).every(([, code]) => code === 'token_revoked'),
    'every session stays ended',
  )
  t.equal((await signInAgain(cyd)).status, 200)
})

t.test('an operator can end an account’s sessions without revoking its keys', async (t) => {
  const dan = await service.signIn('dan')
  const { secret } = (await dan.post('/api/me/keys', { name: 'laptop', scopes: ['settings:read'] })).body
  const { id } = await service.workspace(dan, { name: 'Dan' })
  const ended = await users(t, 'sign-out', String(dan.repohostId))
  t.same(ended, { code: 0, output: 'All sessions of dan have ended.\n' })
  const expected = JSON.stringify(Array(2).fill([401, 'token_revoked']))
  await until(async () => JSON.stringify(await outcomesOf(dan.token, '/api/me')) === expected, 'it is over')
  t.same(await outcomesOf(secret, '/api/projects'), Array(2).fill([200, undefined]))
  const again = await service.signIn('dan', { id: dan.repohostId })
  t.same(await operatorEntries(again, id), [{ action: 'member.signed_out', target: 'dan', details: {} }])
})

t.test('an operator can list a person’s access keys and revoke one without knowing its owner', async (t) => {
  const [pia, quin] = await service.signInAll('pia', 'quin')
  const { id } = await service.workspace(pia, { name: 'Pia', members: [quin] })
  const body = (name: string) => ({ name, scopes: ['settings:read'] })
  const own = (await pia.post('/api/me/keys', body('laptop \u001b[2J'))).body
  const ofWorkspace = (await pia.post(`${team}/${id}/keys`, body('nightly'))).body
  const other = (await quin.post('/api/me/keys', body('laptop'))).body
  const admins = (await pia.post('/api/me/keys', { name: 'deploy', scopes: ['settings:write'] })).body
  const lineOf = ({ id, expires_at }: Record<string, string>, what: string) =>
    `${id}  ${what}, until ${expires_at}, never used\n`
  const ofWorkspaceLine = lineOf(ofWorkspace, `nightly of workspace ${id}, settings:read`)
  const adminsLine = lineOf(admins, 'deploy, settings:write')
  t.strictSame(await users(t, 'keys', 'pia'), {
    code: 0,
    output: adminsLine + ofWorkspaceLine + lineOf(own, 'laptop \\u{1b}[2J, settings:read'),
  })

  const user = await findAccount(service.database, 'pia')
  const revoked = await users(t, 'revoke-key', own.secret)
  t.strictSame(revoked, {
    code: 0,
    output: `The key laptop \\u{1b}[2J of pia, id ${own.id}, is revoked.\n`,
  })
  t.strictSame(
    await describeKeys(service.database, user),
    [adminsLine, ofWorkspaceLine].map((line) => line.trimEnd()),
  )
  t.equal(
    await revokeKeyOf(service.database, own.id.toUpperCase()),
    `The key of pia, id ${own.id}, had already stopped working.`,
  )
  t.equal(
    await revokeKeyOf(service.database, ` ${ofWorkspace.secret}\n`),
    `The key nightly of workspace ${id}, id ${ofWorkspace.id}, is revoked.`,
  )
  t.equal(
    await revokeKeyOf(service.database, admins.id),
    `The key deploy of pia, id ${admins.id}, is revoked.`,
  )
  t.strictSame(await describeKeys(service.database, user), ['pia has no access keys.'])
  const unknown = own.secret.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))
  await t.rejects(revokeKeyOf(service.database, unknown), {
    constructor: OperatorError,
    message: 'There is no such access key, or its account or workspace was deleted.',
  })

  const ended = JSON.stringify(Array(2).fill([401, 'token_revoked']))
  for (const { secret } of [own, ofWorkspace, admins])
    await until(
      async () => JSON.stringify(await outcomesOf(secret, `${team}/${id}/patterns`)) === ended,
      'every instance rejects the key',
    )
  t.strictSame(await outcomesOf(other.secret, '/api/projects'), Array(2).fill([200, undefined]))
  t.strictSame(await operatorEntries(pia, id), [
    { action: 'key.revoked', target: 'nightly', details: { id: ofWorkspace.id } },
    {
      action: 'key.revoked',
      target: null,
      details: { id: admins.id, scopes: ['settings:write'], owner: 'pia' },
    },
  ])
})

t.test('an account is found only by its own login and ids', async (t) => {
  const eli = await service.signIn('eli')
  const numeric = await service.signIn(String(eli.repohostId))
  const id = await idOf(eli)
  const loginOf = async (name: string) => (await findAccount(service.database, name)).login
  t.equal(await loginOf(id.toUpperCase()), 'eli')
  t.equal(await loginOf('ELI'), 'eli')
  t.equal(await loginOf(String(numeric.repohostId)), numeric.login)
  const both = `eli, id ${id}; ${numeric.login}, id ${await idOf(numeric)}`
  await t.rejects(loginOf(String(eli.repohostId)), {
    constructor: OperatorError,
    message: `${eli.repohostId} is the login of one account and the id of another: ${both}.`,
  })
  await t.rejects(loginOf('0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'), {
    message: 'No account has the login or id 0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e.',
  })
})

t.test('the operator’s export equals the person’s own', async (t) => {
  const fay = await service.signIn('fay')
  const { id } = await service.workspace(fay, { name: 'Fay', patterns: ['fay/*'] })
  await fay.push('fay/web', { 'ext.a': 1 })
  await fay.post('/api/me/keys', { name: 'laptop', scopes: ['settings:read'] })
  const today = new Date().toISOString().slice(0, 10)
  await fay.post('/api/team/active-minutes', { entries: [{ repo: 'fay/web', day: today, minutes: 3 }] })
  await service.app.milestones.flush()
  const { exported_at: _, ...own } = (await fay.get('/api/me/export')).body
  const file = join(await temporaryFolder(t), 'fay.json')
  t.same(await users(t, 'export', 'fay', file), { code: 0, output: `The data of fay is in ${file}.\n` })
  t.equal((await stat(file)).mode & 0o777, 0o600)
  const { exported_at, ...exported } = JSON.parse(await readFile(file, 'utf8'))
  t.same(exported, own)
  t.match(exported_at, /^20\d\d-/)
  t.equal(own.profile.disabled_at, null)
  t.equal(own.personal_workspace, null)
  t.same(own.memberships[0].workspace, { id, name: 'Fay', personal: false })

  const user = await findAccount(service.database, 'fay')
  await disableAccount(service.database, user)
  const toOutput = await users(t, 'export', 'fay')
  t.equal(toOutput.code, 0)
  const { profile } = JSON.parse(toOutput.output)
  t.match(profile.disabled_at, /^20\d\d-.*Z$/)
  t.same({ ...profile, disabled_at: null }, own.profile)
  const nowhere = join(file, 'nowhere')
  const pieces = await exportAccountOf(service.database, service.config, user)
  await t.rejects(writeExport(pieces, nowhere, signal), {
    constructor: OperatorError,
    message: `The file ${nowhere} can’t be written (ENOTDIR).`,
  })
})

t.test('an operator can find and show workspaces', async (t) => {
  const [gus, hal] = await service.signInAll('gus', 'hal')
  const name = 'Gus \u001b[2J\nand others'
  const { id } = await service.workspace(gus, { name, patterns: ['gus/*', 'gus-labs/*'], members: [hal] })
  await gus.push('gus/web', { 'ext.a': 'x'.repeat(20_000) })
  await gus.put(`${team}/${id}/project-settings/gus/web`, { settings: { 'ext.a': 1 } })
  await gus.post(`${team}/${id}/keys`, { name: 'nightly', scopes: ['settings:read'] })
  const stored = Buffer.byteLength(JSON.stringify({ 'ext.a': 'x'.repeat(20_000) }))
  const bytes = stored + limits.workspace_bytes_per_settings
  const line = `${id}  Gus \\u{1b}[2J\\u{a}and others, 2 members, 1 active admin, ${((100 * bytes) / limits.workspace_bytes).toFixed(1)} % of ${limits.workspace_bytes / 2 ** 20} MiB used`
  const today = new Date().toISOString().slice(0, 10)
  const entries = [{ repo: 'gus/web', day: today, minutes: 3 }]
  await gus.post('/api/team/active-minutes', { entries, flush_id: 'first' })
  await service.app.milestones.flush()
  const [found, listed, shown, wrong] = await Promise.all([
    users(t, 'find', 'gus'),
    workspaces(t, 'list', '--search', 'GUS-LABS'),
    workspaces(t, 'show', id.toUpperCase()),
    workspaces(t, 'show', id, 'gus'),
  ])
  t.same(listed, { code: 0, output: `${line}\n` })
  t.same(wrong, { code: 1, output: "Unexpected argument 'gus'. See `npm run workspaces -- --help`.\n" })
  t.same(await lines('and others'), [line])
  t.same(await lines('gus_'), [])
  t.equal(shown.code, 0)
  const said = shown.output.split('\n')
  t.equal(said[0], line)
  t.same(countsOf(shown.output), [
    'access keys: 1',
    'active invites: 1',
    'activity: 1',
    'audit entries: 5',
    'days that wait for their rollups: 1',
    'invites: 1',
    'members: 2',
    'overrides: 1',
    'patterns: 2',
    'people with activity: 1',
    'privacy levels: 1',
    'repositories with activity: 1',
    'snapshot versions: 1',
    'snapshots: 1',
    'workspace settings versions: 1',
  ])
  t.same(countsOf(found.output), [
    'access keys created: 1',
    'activity: 1',
    'answers to flushes: 1',
    'audit entries by the person: 4',
    'funnel events by day: 4',
    'funnel events: 4',
    'invites: 1',
    'memberships: 1',
    'overrides: 1',
    'own time: 1',
    'repositories named in full: 1',
    'snapshot versions: 1',
    'snapshots: 1',
    'workspace settings versions: 1',
    'workspaces created: 1',
  ])
  t.match(said[1], new RegExp(`^ {2}created 20.*, privacy level named, ${bytes} bytes of settings$`))
  t.match(
    shown.output,
    new RegExp(`\n {2}admin gus, id ${await idOf(gus)}, joined 20.*\n {2}member hal, id `),
  )
  t.match(shown.output, /\n {2}key nightly of gus, settings:read, until 20/)

  await t.rejects(findWorkspace(service.database, 'gus'), { message: 'gus isn’t a workspace id.' })
  const unknown = '0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e'
  await t.rejects(findWorkspace(service.database, unknown), { message: `There is no workspace ${unknown}.` })
})

t.test('an operator can export a workspace with its history', async (t) => {
  const ida = await service.signIn('ida')
  const { id, code } = await service.workspace(ida, { name: 'Ida', patterns: ['ida/*'] })
  await ida.push('ida/web', { 'ext.a': 1 })
  await ida.push('ida/web', { 'ext.a': 2 })
  for (const n of [1, 2]) await ida.patch(`${team}/${id}/settings`, { settings: { 'ext.b': n } })
  for (const n of [1, 2])
    await ida.put(`${team}/${id}/project-settings/ida/web`, { settings: { 'ext.c': n } })
  const key = (await ida.post(`${team}/${id}/keys`, { name: 'nightly', scopes: ['settings:write'] })).body
  await service.request('PATCH', `${team}/${id}/settings`, {
    body: { settings: { 'ext.b': 3 } },
    headers: { Authorization: `Bearer ${key.secret}` },
  })
  const file = join(await temporaryFolder(t), 'ida.json')
  t.same(await workspaces(t, 'export', id, file), { code: 0, output: `The workspace is in ${file}.\n` })
  t.equal((await stat(file)).mode & 0o777, 0o600)
  const text = await readFile(file, 'utf8')
  const exported = JSON.parse(text)
  t.same(Object.keys(exported), [
    'exported_at',
    'workspace',
    'members',
    'invites',
    'keys',
    'workspace_settings_versions',
    'overrides',
    'override_versions',
    'settings_versions',
    'audit',
  ])
  const brief = (list: Record<string, unknown>[], ...names: string[]) =>
    list.map((item) => names.map((name) => item[name]))
  const { workspace } = exported
  t.same(brief([workspace], 'id', 'name', 'patterns', 'settings', 'settings_version'), [
    [id, 'Ida', ['ida/*'], { 'ext.b': 3 }, 4],
  ])
  t.same(brief(exported.members, 'id', 'login', 'role'), [[await idOf(ida), 'ida', 'admin']])
  t.same(brief(exported.keys, 'id', 'name', 'created_by'), [[key.id, 'nightly', 'ida']])
  t.same(brief(exported.workspace_settings_versions, 'version', 'settings', 'created_by'), [
    [1, {}, 'ida'],
    [2, { 'ext.b': 1 }, 'ida'],
    [3, { 'ext.b': 2 }, 'ida'],
    [4, { 'ext.b': 3 }, 'key nightly'],
  ])
  t.same(brief(exported.settings_versions, 'owner', 'repo', 'version', 'settings', 'created_by'), [
    ['ida', 'web', 1, { 'ext.a': 1 }, 'ida'],
    ['ida', 'web', 2, { 'ext.a': 2 }, 'ida'],
  ])
  t.same(brief(exported.overrides, 'owner', 'repo', 'version', 'settings', 'updated_by'), [
    ['ida', 'web', 2, { 'ext.c': 2 }, 'ida'],
  ])
  t.same(brief(exported.override_versions, 'version', 'settings', 'created_by'), [[1, { 'ext.c': 1 }, 'ida']])
  t.same(exported.audit, (await ida.get(`${team}/${id}/audit`)).body.entries)
  t.same(brief(exported.invites, 'role', 'used_count', 'created_by'), [['member', 0, 'ida']])
  for (const secret of [code, key.secret]) t.notOk(text.includes(secret), 'no secret is in it')
})

t.test('an operator can hand over a workspace without an admin, and erase a disabled account', async (t) => {
  const [jan, kim] = await service.signInAll('jan', 'kim')
  const lea = await service.signIn('lea')
  const { database } = service
  const { id } = await service.workspace(jan, { name: 'Headless', patterns: ['jan/*'], members: [kim] })
  await disableAccount(database, await findAccount(database, 'jan'))
  const [listed = ''] = await lines('headless')
  t.match(listed, /2 members, no active admins, /)
  const transfer = async (workspace: string, name: string) =>
    transferWorkspace(
      database,
      await findWorkspace(database, workspace),
      await findAccount(database, name),
      limits,
    )
  await t.rejects(transfer(id, 'jan'), { message: 'The account jan is disabled. Enable it first.' })
  t.same(await workspaces(t, 'transfer', id, 'kim'), {
    code: 0,
    output: 'kim is now an admin of the workspace.\n',
  })
  t.equal(await transfer(id, 'kim'), false)
  t.equal(await transfer(id, await idOf(lea)), true)
  t.equal((await kim.patch(`${team}/${id}`, { name: 'Kim’s' })).status, 200)
  t.equal((await lea.patch(`${team}/${id}`, { name: 'Lea’s' })).status, 200)

  await deleteAndEraseAccount(database, service.config, await findAccount(database, 'jan'), signal)
  t.same(await operatorEntries(lea, id), [
    { action: 'member.disabled', target: 'deleted user', details: {} },
    { action: 'member.role_changed', target: 'kim', details: { before: 'member', after: 'admin' } },
    { action: 'member.added', target: 'lea', details: { role: 'admin' } },
    { action: 'member.removed', target: 'deleted user', details: { role: 'admin' } },
  ])
  t.equal((await signInAgain(jan)).status, 200, 'the person can start over')
  await kim.push('kim/dotfiles', { 'ext.a': 1 })
  const { workspaces: own } = (await kim.get('/api/team/me')).body
  const personal = own.find((workspace: { personal: boolean }) => workspace.personal)
  await t.rejects(transfer(personal.id, 'lea'), { message: 'A personal workspace can’t be transferred.' })
})

t.test('an operator can delete a workspace', async (t) => {
  const mia = await service.signIn('mia')
  const { id } = await service.workspace(mia, { name: 'Mia' })
  const { secret } = (await mia.post(`${team}/${id}/keys`, { name: 'nightly', scopes: ['settings:read'] }))
    .body
  const unsure = await workspaces(t, 'delete', id)
  t.equal(unsure.code, 1)
  t.match(unsure.output, /\nNothing was deleted\. Add --yes to delete all of this\.\n$/)
  t.equal((await mia.get(`${team}/${id}/members`)).status, 200)
  const deleted = await workspaces(t, 'delete', id, '--yes')
  t.equal(deleted.code, 0)
  t.same(outcome(await mia.get(`${team}/${id}/members`)), [404, 'workspace_not_found'])
  const expected = JSON.stringify(Array(2).fill([401, 'token_revoked']))
  await until(
    async () => JSON.stringify(await outcomesOf(secret, `${team}/${id}/patterns`)) === expected,
    'the key has ended',
  )
  await t.rejects(findWorkspace(service.database, id), { message: `There is no workspace ${id}.` })
})
