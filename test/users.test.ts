/** The command with which an operator finds and deletes accounts. */
import t from 'tap'
import { hasProperties } from './has-properties.js'
import { launchProgram, onDatabase } from './process.js'
import { reuseService, startTeam } from './service.js'
import { until } from './until.js'

const team = '/api/team/workspaces'

t.test('an operator finds and deletes accounts in a given database', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { name: 'Team', members: [bob] })
  const users = async (...args: string[]) => {
    const program = launchProgram(t, 'src/bin/users', onDatabase(service.databaseUrl), args)
    return { code: await program.ended, output: program.output() }
  }
  const [unknown, found, rejected, unsure] = await Promise.all([
    users('erase', 'bob'),
    users('find', 'BOB'),
    users('delete', 'ada', '--yes'),
    users('delete', 'bob'),
  ])
  t.match(unknown, { code: 1, output: /Unknown command: erase/ })
  t.match(found, {
    code: 0,
    output: new RegExp(`bob, id ${(await bob.get('/api/me')).body.id}[^]*member of Team, ${id}`),
  })
  t.match(rejected, { code: 1, output: new RegExp(`need another admin first:\n {2}Team, ${id}\n$`) })
  t.match(unsure, { code: 1, output: /Add --yes/ })
  t.match(await users('delete', 'bob', '--yes'), {
    code: 0,
    output: /deleted[\s\S]*Keep the id [0-9a-f-]{36},/,
  })
  hasProperties(t, (await ada.get(`${team}/${id}/members`)).body.members, [{ login: 'ada' }])
  await until(async () => (await bob.get('/api/me')).status === 401, 'the service knows')
})

t.test('a removal also applies to a person whose account an operator deleted', async (t) => {
  const { service, ada, bob, id, code } = await startTeam(t, 'bob')
  await ada.delete(`${team}/${id}/members?login=bob`)
  const remove = async (env: Record<string, string>) => {
    const program = launchProgram(t, 'src/bin/users', env, ['delete', 'bob', '--yes'])
    return { code: await program.ended, output: program.output() }
  }
  const { JWT_SECRETS, ...withoutSecret } = onDatabase(service.databaseUrl)
  const rejected = await remove(withoutSecret)
  t.equal(rejected.code, 1)
  t.match(rejected.output, /set JWT_SECRETS to the service’s secrets\.\n$/)
  t.equal((await bob.get('/api/me')).status, 200, 'nothing was deleted')
  t.equal((await remove({ ...withoutSecret, JWT_SECRETS })).code, 0)
  const again = await service.signIn('bob', { id: bob.repohostId })
  t.equal((await again.post(`${team}/join`, { code })).status, 410)
})
