import { createHmac, generateKeyPairSync, sign as signRsa } from 'node:crypto'
import postgres from 'postgres'
import t from 'tap'
import { hasProperties } from './has-properties.js'
import { JWT_SECRET } from './process.js'
import { DASHBOARD, reuseService, type Service, startService } from './service.js'
import { until } from './until.js'

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part: string | undefined) => JSON.parse(Buffer.from(part ?? '', 'base64url').toString())

/** A token made by hand, to be wrong in exactly one way. */
const forge = (header: object, claims: object, { secret = JWT_SECRET, hash = 'sha256' } = {}) => {
  const content = `${base64(header)}.${base64(claims)}`
  return `${content}.${createHmac(hash, secret).update(content).digest('base64url')}`
}

t.test('of many tokens, only the genuine one is accepted', async (t) => {
  const service = await reuseService(t)
  const { token } = await service.signIn('ada')
  const [head, body, signature] = token.split('.')
  const header = decode(head)
  const claims = decode(body)
  hasProperties(t, header, { alg: 'HS256', kid: String })
  hasProperties(t, claims, {
    sub: String,
    login: 'ada',
    iat: Number,
    exp: Number,
    iss: String,
    jti: String,
    gen: 0,
  })
  t.equal(claims.exp - claims.iat, 30 * 86_400)

  const { exp: _exp, ...endless } = claims
  const { jti: _jti, ...unnamed } = claims
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const rsaContent = `${base64({ ...header, alg: 'RS256' })}.${body}`
  const forged: Record<string, string> = {
    'no algorithm': `${base64({ ...header, alg: 'none' })}.${body}.`,
    'HS512 with the right secret': forge({ ...header, alg: 'HS512' }, claims, { hash: 'sha512' }),
    RS256: `${rsaContent}.${signRsa('sha256', Buffer.from(rsaContent), rsa.privateKey).toString('base64url')}`,
    'another secret': forge(header, claims, { secret: 'another-secret-that-is-also-32-bytes-long' }),
    'no exp': forge(header, endless),
    'exp in the past': forge(header, { ...claims, iat: 1, exp: 1_000 }),
    'exp as a string': forge(header, { ...claims, exp: String(claims.exp) }),
    'another issuer': forge(header, { ...claims, iss: 'somebody-else' }),
    'an unknown kid': forge({ ...header, kid: 'unknown' }, claims),
    'no kid': forge({ alg: 'HS256', typ: 'JWT' }, claims),
    'a critical extension': forge({ ...header, crit: ['b64'], b64: false }, claims),
    'no jti': forge(header, unnamed),
    'a subject that is no id': forge(header, { ...claims, sub: 'x' }),
    'an exp beyond all years': forge(header, { ...claims, exp: Number.MAX_SAFE_INTEGER }),
    'gen as text': forge(header, { ...claims, gen: '0' }),
    'bad padding': `${head}.${body}=.${signature}`,
    'a changed payload': `${head}.${base64({ ...claims, sub: '00000000-0000-7000-8000-000000000000' })}.${signature}`,
    'no token at all': '',
    'a header that is not JSON': `x.${body}.${signature}`,
    'a header that is null': `${base64(null)}.${body}.${signature}`,
    'a huge token': 'a'.repeat(10_000),
    'two dots': '..',
  }
  for (const [what, candidate] of Object.entries(forged)) {
    const reply = await service.request('GET', '/api/me', {
      headers: { Authorization: `Bearer ${candidate}` },
    })
    t.equal(reply.status, 401, what)
    t.equal(reply.body.code, what === 'exp in the past' ? 'token_expired' : 'token_invalid', what)
  }
  const genuine = await service.request('GET', '/api/me', { headers: { Authorization: `bearer   ${token}` } })
  t.equal(genuine.status, 200)
  t.hasStrict(genuine.body, { login: 'ada', plan: 'pro', status: 'none' })
  const signedOut = await service.request('GET', '/api/me')
  t.hasStrict(signedOut, { status: 401, body: { code: 'unauthenticated' } })
  const basic = await service.request('GET', '/api/me', { headers: { Authorization: 'Basic YTpi' } })
  t.equal(basic.status, 401)
})

t.test('the header wins if header and cookie are both sent', async (t) => {
  const service = await reuseService(t)
  const [ada, bob] = await service.signInAll('ada', 'bob')
  const cookie = { Cookie: `svc_token=${ada.token}` }
  t.hasStrict((await service.request('GET', '/api/me', { headers: cookie })).body, { login: 'ada' })
  const both = { ...cookie, Authorization: `Bearer ${bob.token}` }
  t.hasStrict((await service.request('GET', '/api/me', { headers: both })).body, { login: 'bob' })
  const spoiled = { ...cookie, Authorization: 'Bearer spoiled' }
  t.equal((await service.request('GET', '/api/me', { headers: spoiled })).status, 401)
})

t.test('over https, no other host on the site can replace the session', async (t) => {
  const service = await reuseService(t)
  const [ada, eve] = await service.signInAll('ada', 'eve')
  const loginWith = async (Cookie: string) => {
    const { body } = await service.request('GET', '/api/me', { headers: { Cookie } })
    return body.login ?? body.code
  }
  const twin = `__Host-svc_token=${ada.token}`
  const planted = `svc_token=${eve.token}`
  const responses: Record<string, string> = {
    [`${twin}; ${planted}`]: 'ada',
    [`${planted}; ${planted}; ${twin}`]: 'ada',
    [`${planted}; svc_token=${ada.token}; ${twin}`]: 'ada',
    [`${twin}; __Host-svc_token=${eve.token}`]: 'token_invalid',
    [`__Host-svc_token=spoiled; ${planted}`]: 'token_invalid',
    [`__Host-svc_token=; ${planted}`]: 'token_invalid',
    // A session of before the twin. Which of several is the genuine one can't be told.
    [`svc_token=${ada.token}`]: 'ada',
    [`svc_token=${ada.token}; svc_token=${ada.token}`]: 'ada',
    [`svc_token=${ada.token}; ${planted}`]: 'token_invalid',
    [`${planted}; svc_token=${ada.token}`]: 'token_invalid',
    [`\u00a0__Host-svc_token=${eve.token}; svc_token=${ada.token}`]: 'ada',
    [`__host-svc_token=${eve.token}; svc_token=${ada.token}`]: 'ada',
  }
  for (const [cookie, response] of Object.entries(responses)) {
    const what = cookie.replaceAll(ada.token, 'ada').replaceAll(eve.token, 'eve')
    t.equal(await loginWith(cookie), response, what)
  }

  const create = await service.request('POST', '/api/team/workspaces/create', {
    body: { name: 'Acme' },
    headers: { Cookie: twin, Origin: 'https://evil.example.com' },
  })
  t.hasStrict(create, { status: 403, body: { code: 'csrf_rejected' } })
  const out = await service.request('POST', '/api/auth/logout', {
    headers: { Cookie: `${planted}; ${twin}`, Origin: DASHBOARD },
  })
  t.equal(out.status, 200)
  const cleared = 'Max-Age=0; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; SameSite=Lax'
  t.strictSame(out.headers.getSetCookie().slice(0, 2), [
    `svc_token=; ${cleared}`,
    `__Host-svc_token=; ${cleared}`,
  ])
  t.equal(await loginWith(twin), 'token_revoked')
  t.equal(await loginWith(planted), 'eve', 'the planted session of another person is used')

  const plain = await startService(t, { beside: service, env: { SITE_URL: 'http://127.0.0.1:3000' } })
  const signIn = await plain.request('POST', '/api/auth/verify', {
    body: { repohost_token: ada.repohostToken, cookie: true },
    headers: { Origin: 'http://127.0.0.1:3000' },
  })
  t.strictSame(signIn.headers.getSetCookie(), [
    `svc_token=${signIn.body.token}; Max-Age=2592000; Path=/; HttpOnly; SameSite=Lax`,
  ])
  const overHttp = await plain.request('GET', '/api/me', {
    headers: { Cookie: `__Host-svc_token=${eve.token}; svc_token=${signIn.body.token}` },
  })
  t.hasStrict(overHttp, { status: 200, body: { login: 'ada' } })
})

t.test('a change with the cookie has to come from a known origin', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://api.example.com' } })
  const ada = await service.signIn('ada')
  const create = (headers: Record<string, string>) =>
    service.request('POST', '/api/team/workspaces/create', { body: { name: 'Acme' }, headers })
  const cookie = { Cookie: `svc_token=${ada.token}` }
  for (const allowed of [
    { Origin: DASHBOARD },
    { Origin: 'https://api.example.com' },
    { 'Sec-Fetch-Site': 'same-origin' },
  ]) {
    t.equal((await create({ ...cookie, ...allowed } as never)).status, 201, JSON.stringify(allowed))
  }
  const rejections: Record<string, string>[] = [
    {},
    { Origin: 'null' },
    { Origin: 'https://evil.example.com' },
    { Origin: `${DASHBOARD}.evil.com` },
    { Origin: DASHBOARD.toUpperCase() },
    { Origin: 'https://evil.example.com', 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ]
  for (const rejected of rejections) {
    t.hasStrict(
      await create({ ...cookie, ...rejected }),
      { status: 403, body: { code: 'csrf_rejected' } },
      JSON.stringify(rejected),
    )
  }
  const bearer = await create({ Authorization: `Bearer ${ada.token}`, Origin: 'https://evil.example.com' })
  t.equal(bearer.status, 201, 'a Bearer call needs no such check')
  const read = await service.request('GET', '/api/me', {
    headers: { ...cookie, Origin: 'https://evil.example.com' },
  })
  t.equal(read.status, 200, 'nor does a read')
  const exchange = await service.request('POST', '/api/auth/verify', {
    body: { repohost_token: ada.repohostToken },
    headers: cookie,
  })
  t.equal(exchange.status, 200, 'nor does the exchange of a token, for which the cookie counts nothing')
})

t.test('signing out with the cookie works without an origin, but not from another one', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://api.example.com' } })
  const ada = await service.signIn('ada')
  const cookie = { Cookie: `svc_token=${ada.token}` }
  const signOut = (headers: Record<string, string>) =>
    service.request('POST', '/api/auth/logout', { headers: { ...cookie, ...headers } })
  const rejections: Record<string, string>[] = [
    { Origin: 'null' },
    { Origin: 'https://evil.example.com' },
    { Origin: 'https://evil.example.com', 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
  ]
  for (const rejected of rejections) {
    const reply = await signOut(rejected)
    t.hasStrict(reply, { status: 403, body: { code: 'csrf_rejected' } }, JSON.stringify(rejected))
    t.same(reply.headers.getSetCookie(), [])
  }
  const out = await signOut({})
  t.equal(out.status, 200)
  t.match(out.headers.getSetCookie()[0], /^svc_token=; Max-Age=0; /)
  t.hasStrict(await service.request('GET', '/api/me', { headers: cookie }), {
    status: 401,
    body: { code: 'token_revoked' },
  })
})

t.test('signing out ends the session immediately here and soon on other instances', async (t) => {
  const service = await reuseService(t)
  const other = await startService(t, { beside: service })
  const ada = await service.signIn('ada')
  const elsewhere = () =>
    other.request('GET', '/api/me', { headers: { Authorization: `Bearer ${ada.token}` } })
  t.equal((await elsewhere()).status, 200)

  const out = await ada.post('/api/auth/logout')
  t.match(out, { status: 200, body: { ok: true } })
  t.match(out.headers.get('set-cookie'), /svc_token=;/)
  t.hasStrict(await ada.get('/api/me'), { status: 401, body: { code: 'token_revoked' } })
  await until(async () => (await elsewhere()).status === 401, 'the session has ended')
  t.equal((await service.signIn('ada').then((again) => again.get('/api/me'))).status, 200)
})

t.test('signing out everywhere ends every earlier session', async (t) => {
  const service = await reuseService(t)
  const other = await startService(t, { beside: service })
  const [laptop, desktop] = await service.signInAll('ada', 'ada')
  t.equal((await laptop.post('/api/auth/logout', { everywhere: true })).status, 200)
  for (const session of [laptop, desktop]) {
    t.hasStrict(await session.get('/api/me'), { status: 401, body: { code: 'token_revoked' } })
  }
  const onOther = { headers: { Authorization: `Bearer ${desktop.token}` } }
  await until(
    async () => (await other.request('GET', '/api/me', onOther)).status === 401,
    'the session has ended',
  )
  const fresh = await service.signIn('ada')
  t.equal((await fresh.get('/api/me')).status, 200)
  const restarted = await startService(t, { beside: service })
  t.equal((await restarted.request('GET', '/api/me', onOther)).status, 401, 'a new instance knows, too')
})

t.test('signing out everywhere is atomic', async (t) => {
  const service = await reuseService(t)
  const [laptop, desktop] = await service.signInAll('ada', 'ada')
  const admin = postgres(service.databaseUrl, { max: 1, onnotice: () => {} })
  t.teardown(() => admin.end())
  await admin.unsafe(`
    create function reject() returns trigger language plpgsql as $$ begin raise exception 'rejected'; end $$;
    create trigger reject before insert on revocations for each row execute function reject()`)
  t.equal((await laptop.post('/api/auth/logout', { everywhere: true })).status, 500)
  t.same(
    await admin`select generation from users where repohost_id is not null`,
    [{ generation: 0 }],
    'nothing was done',
  )
  t.equal((await desktop.get('/api/me')).status, 200)
  await admin`drop function reject() cascade`
  t.equal((await laptop.post('/api/auth/logout', { everywhere: true })).status, 200)
  t.hasStrict(await desktop.get('/api/me'), { status: 401, body: { code: 'token_revoked' } })
})

t.test('signing out without a valid token clears the cookies', async (t) => {
  const service = await reuseService(t)
  for (const headers of [{}, { Authorization: 'Bearer bad' }, { Cookie: 'svc_token=bad' }] as Record<
    string,
    string
  >[]) {
    const reply = await service.request('POST', '/api/auth/logout', { headers })
    t.equal(reply.status, 200)
    t.match(reply.headers.get('set-cookie'), /svc_token=;.*Path=\/.*HttpOnly/)
  }
  const everywhere = await service.request('POST', '/api/auth/logout', { body: { everywhere: true } })
  t.hasStrict(everywhere, { status: 401, body: { code: 'unauthenticated' } })
})

t.test('rotating a secret signs no one out', async (t) => {
  const service = await reuseService(t)
  const ada = await service.signIn('ada')
  const me = (instance: typeof service) =>
    instance.request('GET', '/api/me', { headers: { Authorization: `Bearer ${ada.token}` } })
  const next = 'the-next-test-secret-of-more-than-32-bytes'
  const rotated = await startService(t, { beside: service, env: { JWT_SECRETS: `${next},${JWT_SECRET}` } })
  t.equal((await me(rotated)).status, 200)
  const later = await startService(t, { beside: service, env: { JWT_SECRETS: next } })
  t.equal((await me(later)).status, 401)
  const { token } = await rotated.signIn('ada')
  t.equal(
    (await later.request('GET', '/api/me', { headers: { Authorization: `Bearer ${token}` } })).status,
    200,
  )
})

t.test(
  'an instance that lacks another’s secret warns once, and a correct rotation logs nothing',
  async (t) => {
    const [old, next] = [`${JWT_SECRET}-old`, `${JWT_SECRET}-next`]
    const start = (secrets: string[], beside?: Service) =>
      startService(t, { env: { JWT_SECRETS: secrets.join() }, ...(beside && { beside }) })
    const saidBy = ({ logs }: Service) =>
      logs.map((line) => JSON.parse(line).msg as string).filter((msg) => /JWT_SECRETS/.test(msg))

    const first = await start([old])
    const added = await start([old, next], first)
    for (const { app } of [first, added]) await app.jobs.comparedSecrets.run()
    t.strictSame([saidBy(first), saidBy(added)], [[], []], 'the next secret is only added')
    const rotated = await start([next, old], first)
    for (const { app } of [added, rotated]) await app.jobs.comparedSecrets.run()
    t.strictSame([saidBy(added), saidBy(rotated)], [[], []], 'the next secret signs, where all have it')

    for (let n = 0; n < 2; n += 1) await first.app.jobs.comparedSecrets.run()
    const [line, ...more] = saidBy(first)
    t.match(line, /another instance signed sessions with a secret that isn’t in JWT_SECRETS here/)
    t.strictSame(more, [], 'the instance that was left out says it once')
    t.notMatch(line, JWT_SECRET)

    const keys = await first.database.read.statement('select key_id from signing_keys', [])
    t.equal(keys.length, 2)
    t.notMatch(JSON.stringify(keys), JWT_SECRET, 'the database has no secret')
    await first.database.write.statement("update signing_keys set used_at = now() - interval '6 minutes'", [])
    const alone = await start([`${JWT_SECRET}-other`], first)
    t.strictSame(saidBy(alone), [], 'an instance that has stopped is forgotten')
  },
)
