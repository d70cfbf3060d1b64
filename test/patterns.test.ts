import fc from 'fast-check'
import t from 'tap'
import { matchesPattern } from '../client/src/pattern.js'
import { splitRepo } from '../schemas/repo-keys.js'
import {
  likenessOf,
  likesOf,
  parsePattern,
  patternMatches,
  type RepoPattern,
  toLike,
} from '../schemas/repo-pattern.js'
import { hasProperties } from './has-properties.js'
import { reuseService } from './service.js'

const team = '/api/team/workspaces'

const parsed = (pattern: string): RepoPattern => {
  const result = parsePattern(pattern)
  if (!result) throw new Error(`${pattern} is no pattern`)
  return result
}

/** Matches a whole pattern by its plain definition. All is in lower case already. */
const matchesRepoNaively = (pattern: string, repo: string): boolean => {
  const [wanted, given] = [splitRepo(pattern), splitRepo(repo)]
  const isBelow = `${given.owner}/`.startsWith(`${wanted.owner}/`)
  return wanted.repo === '**'
    ? isBelow
    : wanted.owner === given.owner && matchesNaively(wanted.repo, given.repo)
}

/** Matches a name by its plain definition. Names are in lower case already. */
const matchesNaively = (pattern: string, name: string): boolean => {
  if (pattern === '') return name === ''
  if (pattern[0] !== '*') return pattern[0] === name[0] && matchesNaively(pattern.slice(1), name.slice(1))
  return matchesNaively(pattern.slice(1), name) || (name !== '' && matchesNaively(pattern, name.slice(1)))
}

t.test('patterns are listed as sent and replaced as a whole', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const { id } = await service.workspace(ada, { patterns: ['acme/z', 'Acme/*'], members: [bob] })
  const path = `${team}/${id}/patterns`
  t.same((await bob.get(path)).body, { patterns: ['acme/z', 'Acme/*'] })
  t.same((await ada.put(path, { patterns: ['beta/*-docs', 'acme/z'] })).body, {
    patterns: ['beta/*-docs', 'acme/z'],
  })
  t.same((await bob.get(path)).body, { patterns: ['beta/*-docs', 'acme/z'] })
  t.same((await ada.put(path, { patterns: [] })).body, { patterns: [] })
  t.same((await bob.get(path)).body, { patterns: [] })
})

t.test('fifty patterns with 200 characters are accepted, and more or longer ones are rejected', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: [] })
  const put = (patterns: unknown) => ada.put(`${team}/${id}/patterns`, { patterns })
  const long = (index: number) => `acme/a*b*c*d*${index}`.padEnd(200, '-')
  const most = Array.from({ length: 50 }, (_, index) => long(index))
  t.equal((await put(most)).status, 200)
  t.equal((await put([...most, 'acme/one-more'])).status, 400)
  t.equal((await put([`acme/${'*'.repeat(196)}`])).status, 400)
  const wrong = ['', 'acme', '*/x', 'a/b/c', 'a/..', 'a/ü']
  for (const pattern of wrong) t.equal((await put([pattern])).status, 400, pattern)
  for (const patterns of [['acme/x', 'ACME/X'], ['acme/*', 1], 'acme/*', null, undefined]) {
    t.equal((await put(patterns)).status, 400, JSON.stringify(patterns))
  }
  t.same((await ada.get(`${team}/${id}/patterns`)).body.patterns, most, 'a rejected change has no effect')
})

t.test('a pattern can have at most four stars, and the error names one with more', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/a*b*c*d*', 'acme/****'] })
  const rejection = (path: string) => ({ errors: [{ path, message: 'must have at most 4 stars (*)' }] })
  const put = await ada.put(`${team}/${id}/patterns`, { patterns: ['acme/*', 'acme/a**b*c*d*'] })
  hasProperties(t, put, {
    status: 400,
    body: { code: 'validation_failed', ...rejection('/body/patterns/1') },
  })
  const create = await ada.post(`${team}/create`, { name: 'More', patterns: ['acme/*****'] })
  hasProperties(t, create, {
    status: 400,
    body: { code: 'validation_failed', ...rejection('/body/patterns/0') },
  })
  const recording = { paused: false, repos_off: ['acme/*a*b*c*d*'], hours: null }
  const choose = await ada.put('/api/me/recording', recording)
  hasProperties(t, choose, {
    status: 400,
    body: { code: 'validation_failed', ...rejection('/body/repos_off/0') },
  })
})

t.test('stored patterns with more stars still match, but can’t be saved again', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const { id } = await service.workspace(ada, { patterns: ['acme/x'] })
  const [old, name] = ['acme/*a*b*c*d*', 'acme/1a2b3c4d5']
  const { repoKey, repoLike, literalLength } = parsed(old)
  await service.database.hot.statement(
    `insert into patterns (workspace_id, owner_key, repo_key, position, pattern, exact, literal_length, repo_like)
      values ($1::uuid, 'acme', $2::text, 1, $3::text, false, $4::int, $5::text)`,
    [id, repoKey, old, literalLength, repoLike],
  )
  t.equal((await ada.push(name, {})).status, 200)
  t.equal((await ada.get(`/api/settings/${name}`)).status, 200)
  t.equal((await ada.get(`/api/team/effective-config?repo=${name}`)).body.matched_pattern, old)
  const day = new Date().toISOString().slice(0, 10)
  const flush = await ada.post('/api/team/active-minutes', { entries: [{ repo: name, day, minutes: 1 }] })
  hasProperties(t, flush, { status: 200, body: { accepted: 1, notes: [] } })
  const { patterns } = (await ada.get(`${team}/${id}/patterns`)).body
  t.same(patterns, ['acme/x', old])
  const again = await ada.put(`${team}/${id}/patterns`, { patterns })
  t.same(again.body.errors, [{ path: '/body/patterns/1', message: 'must have at most 4 stars (*)' }])
})

t.test('an underscore isn’t a wildcard', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  await service.workspace(ada, { patterns: ['acme/a_b', 'acme/c_*'] })
  t.equal((await ada.push('acme/a_b', {})).status, 200)
  t.equal((await ada.push('acme/c_d', {})).status, 200)
  for (const repo of ['acme/axb', 'acme/cxd']) {
    t.hasStrict((await ada.push(repo, {})).body, { status: 409, code: 'workspace_required' }, repo)
    t.hasStrict(
      (await ada.get(`/api/team/effective-config?repo=${repo}`)).body,
      { code: 'not_a_member' },
      repo,
    )
  }
})

t.test(
  'the database, recording preferences, the client and the definition agree on which repositories a pattern matches',
  async (t) => {
    const service = await reuseService(t)
    // Few characters and groups, so that there are many near misses.
    const nameOf = (...units: string[]) =>
      fc
        .string({ unit: fc.constantFrom(...units), minLength: 1, maxLength: 8 })
        .filter((text) => text !== '.' && text !== '..')
    const owner = fc
      .array(fc.constantFrom('Acme', 'acm', 'a_me', 'axme', 'x'), { minLength: 1, maxLength: 4 })
      .map((groups) => groups.join('/'))
    const wild = fc.oneof(nameOf('a', 'b', '_', '.', 'x', '*', '*'), fc.constant('**'))
    const question = fc
      .record({
        pattern: fc.tuple(owner, wild).map((parts) => parts.join('/')),
        repo: fc.tuple(owner, nameOf('a', 'B', '_', '-', '.', 'x')).map((parts) => parts.join('/')),
      })
      .filter(({ pattern }) => parsePattern(pattern) !== undefined)
    const cases = fc.array(question, { minLength: 200, maxLength: 200 })
    const ask = `
    select array_agg(${patternMatches('p', 'p.owner', 'p.name')} order by p.place) as patterns,
      array_agg(${likenessOf('p.owner')} || '/' || p.name like any (string_to_array(p.likes, ' ')) order by p.place) as recordings
    from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[]) with ordinality
      as p (owner_key, repo_key, repo_like, exact, owner, name, likes, place)`
    await fc.assert(
      fc.asyncProperty(cases, async (list) => {
        const patterns = list.map(({ pattern }) => parsed(pattern))
        const repos = list.map(({ repo }) => splitRepo(repo.toLowerCase()))
        const [row] = await service.database.hot.statement<{ patterns: boolean[]; recordings: boolean[] }>(
          ask,
          [
            patterns.map(({ ownerKey }) => ownerKey),
            patterns.map(({ repoKey }) => repoKey),
            patterns.map(({ repoLike }) => repoLike),
            patterns.map(({ exact }) => String(exact)),
            repos.map(({ owner }) => owner),
            repos.map(({ repo }) => repo),
            patterns.map((pattern) => likesOf(pattern).join(' ')),
          ],
        )
        for (const [index, { pattern, repo }] of list.entries()) {
          const expected = matchesRepoNaively(pattern.toLowerCase(), repo.toLowerCase())
          const where = `${pattern} against ${repo}`
          if (row?.patterns[index] !== expected) throw new Error(`The database errs: ${where}`)
          if (row?.recordings[index] !== expected) throw new Error(`Recording preferences err: ${where}`)
          if (matchesPattern(pattern, repo) !== expected) throw new Error(`The client errs: ${where}`)
          if (
            expected &&
            !pattern.endsWith('/**') &&
            splitRepo(repo).owner.split('/').length !== splitRepo(pattern).owner.split('/').length
          )
            throw new Error(`Only ** reaches into subgroups: ${where}`)
        }
      }),
      { numRuns: 10 },
    )
    t.pass('on 2,000 pairs')
  },
)

t.test('characters with a special meaning in LIKE match themselves', async (t) => {
  const service = await reuseService(t)
  for (const [repoKey, name, expected] of [
    ['a%*', 'a%b', true],
    ['a%*', 'axb', false],
    ['a\\*', 'a\\b', true],
    ['a\\*', 'ab', false],
    ['*_', 'a_', true],
    ['*_', 'ab', false],
  ] as const) {
    // Neither `%` nor `\` can get into a pattern; should the grammar ever allow them, the escape is right already.
    const rows = await service.database.hot.statement('select $1::text like $2::text as matches', [
      name,
      toLike(repoKey),
    ])
    t.same(rows, [{ matches: expected }], `${repoKey} against ${name}`)
  }
})

t.test('pattern bombs cost almost nothing', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const endings = Array.from({ length: 50 }, (_, index) => `acme/${'aaaaaaaaaa*'.repeat(4)}-${index}`)
  await service.workspace(ada, { patterns: endings })
  t.hasStrict((await ada.push(`acme/${'a'.repeat(98)}`, {})).body, { code: 'workspace_required' })
  t.equal((await ada.push(`acme/${'a'.repeat(96)}-49`, {})).status, 200)
})
