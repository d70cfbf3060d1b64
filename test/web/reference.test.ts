/** The reference at /api/docs, with its guides and the catalogue of errors, in a browser. */
import t from 'tap'
import { errorCodes } from '../../schemas/errors.js'
import { until } from '../until.js'
import { countOf, startScene, type Visitor } from './page.js'

const scene = await startScene(t)
if (typeof scene === 'string') t.test('the API reference works in a browser', { skip: scene }, async () => {})
else {
  const { service, visit } = scene
  const ada = await service.signIn('ada')
  /** Where a test changes nothing that the browser keeps. */
  const visitor = await visit(ada)

  /** Opens the reference, or one of its operations, and waits for it. */
  const openReference = async (visitor: Visitor, address = '/api/docs') => {
    await visitor.open(address)
    await visitor.page
      .locator(address.includes('#') ? '.answers' : '.operation')
      .first()
      .waitFor()
  }
  const operationOf = (visitor: Visitor, operation: string) =>
    visitor.page.locator(`[data-operation="${operation}"]`)
  const filter = (visitor: Visitor, phrase: string) => visitor.field('Search the API').fill(phrase)
  const PUSH = '/api/docs#/settings/pushSettings'

  t.test('the filter finds operations in both documents, guides and errors', async (t) => {
    const visitor = await visit(ada)
    const { page, complaints } = visitor
    await openReference(visitor)
    t.equal(await visitor.field('Document').inputValue(), '/api/openapi.json', 'everything comes first')
    await visitor.field('Document').selectOption('Core sync')
    await filter(visitor, 'invite')
    const results = page.locator('#results')
    await results.getByRole('link', { name: 'POST Create an invite' }).waitFor()
    await results.getByRole('link', { name: /^Guide Getting started: 2\. Create a workspace/ }).waitFor()
    await results.getByRole('link', { name: /^Error invite_expired/ }).waitFor()
    await results.getByRole('link', { name: 'POST Create an invite' }).click()
    await operationOf(visitor, 'team/createInvite').locator('.answers').waitFor()
    t.equal(await visitor.field('Document').inputValue(), '/api/openapi.json')
    t.equal(new URL(page.url()).hash, '#/team/createInvite')
    t.equal(await page.locator('#side [aria-current]').textContent(), 'POST Create an invite')
    t.notOk(await results.isVisible())
    await visitor.link('GET List the members').click()
    await operationOf(visitor, 'team/listMembers').locator('.answers').waitFor()
    await page.goBack()
    await page.locator('#side [aria-current]').filter({ hasText: 'Create an invite' }).waitFor()

    for (const [phrase, title] of [
      ['unauthorized', /^Error unauthenticated/],
      ['roll back', /^POST Restore an old version of the settings/],
      ['pagination', /^GET List the audit trail/],
    ] as const) {
      await filter(visitor, phrase)
      await results.getByRole('link', { name: title }).waitFor()
    }

    await filter(visitor, 'no such name anywhere, zzz')
    await visitor.sees('No results for "no such name anywhere, zzz"')
    await page.keyboard.press('Escape')
    t.notOk(await results.isVisible())

    await filter(visitor, 'invite_expired')
    await results.getByRole('link').first().click()
    await page.waitForURL(/errors#invite_expired$/)
    await filter(visitor, 'push settings')
    await results.getByRole('link', { name: /^PUT/ }).click()
    await operationOf(visitor, 'settings/pushSettings').locator('.answers').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('the filter applies text typed while the page was loading', async () => {
    const visitor = await visit(ada)
    const { page } = visitor
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    // The scripts of the reference are large. The first one, of the frame, blocks the page.
    await page.route(/\.js$/, async (route) => {
      if (!/\/page[^/]*\.js$/.test(route.request().url())) await held
      await route.continue()
    })
    await page.goto(`${service.url}/api/docs`, { waitUntil: 'commit' })
    await filter(visitor, 'invite')
    release()
    await page.locator('#results').getByRole('link', { name: 'POST Create an invite' }).waitFor()
  })

  t.test('the list of operations works without scripts and matches the document', async (t) => {
    const bare = await service.request('GET', '/api/docs?urls.primaryName=Everything')
    const { body } = await service.request('GET', '/api/openapi.json')
    const { body: core } = await service.request('GET', '/api/openapi.core.json')
    type Named = { tags: string[]; operationId: string; summary: string }
    const operationsOf = ({ paths }: { paths: Record<string, Record<string, Named>> }) =>
      Object.values(paths).flatMap((path) => Object.values(path))
    for (const { tags, operationId, summary } of operationsOf(body)) {
      const row =
        bare.text.split(`data-operation="${tags[0]}/${operationId}"`)[1]?.split('</summary>')[0] ?? ''
      t.ok(row.replaceAll('&quot;', '"').includes(`<span>${summary}</span>`), operationId)
    }

    const visitor = await visit()
    const { page, complaints } = visitor
    const requests: string[] = []
    page.on('request', (request) => requests.push(new URL(request.url()).pathname))
    await openReference(visitor)
    const rows = page.locator('.operation').filter({ visible: true })
    const shown = () => rows.evaluateAll((all) => all.map((row) => row.dataset.operation).sort())
    const namesOf = (document: Parameters<typeof operationsOf>[0]) =>
      operationsOf(document)
        .map(({ tags, operationId }) => `${tags[0]}/${operationId}`)
        .sort()
    t.strictSame(await shown(), namesOf(core))
    t.equal(
      await visitor.heading(/^API reference/).innerText(),
      `API reference: core sync ${core.info.version} OAS 3.1`,
    )
    await visitor.field('Document').selectOption('Everything')
    t.strictSame(await shown(), namesOf(body))
    t.match(await visitor.heading(/^API reference/).innerText(), /^API reference \d/)
    await page.reload()
    t.strictSame(await shown(), namesOf(body))
    await page.locator('.group > summary').filter({ hasText: 'Workspaces:' }).click()
    t.strictSame(
      await shown(),
      namesOf(body).filter((name) => !name.startsWith('team/')),
    )
    // Swagger UI and the documents are loaded for an operation.
    t.strictSame(
      requests.filter((path) => /swagger|openapi|\/me$/.test(path)),
      [],
    )
    t.strictSame(complaints, [])
  })

  t.test('operations can be tried with the authorization entered anywhere on the page', async (t) => {
    const visitor = await visit()
    const { page, complaints } = visitor
    const profile = operationOf(visitor, 'profile/getProfile')
    const projects = operationOf(visitor, 'settings/listProjects')
    const execute = async (operation: typeof profile) => {
      await operation.getByRole('button', { name: /^Send/ }).click()
      const status = operation.locator('.live-responses-table .response-col_status').last()
      await status.waitFor()
      // The page moves to the response.
      const topOf = () => operation.locator('.live').evaluate((live) => live.getBoundingClientRect().top)
      const { height = 0 } = page.viewportSize() ?? {}
      await until(async () => (await topOf()) >= 0 && (await topOf()) < height, 'the response is in view')
      return Number.parseInt((await status.textContent()) ?? '', 10)
    }
    await openReference(visitor, '/api/docs#/profile/getProfile')
    const signIn = profile.getByRole('link', { name: 'Sign in' })
    t.equal(
      await signIn.getAttribute('href'),
      `/api/auth/repohost?return_to=${encodeURIComponent('/api/docs#/profile/getProfile')}`,
    )
    await visitor.button('Authorize').focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Authorize' })
    await dialog.waitFor()
    t.strictSame(await visitor.violations(), [])
    await dialog.locator('input:focus').waitFor()
    t.equal(await countOf(dialog.locator('input'), 1), 1)
    await page.keyboard.type(ada.token)
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Logout' }).waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.locator('#authorize:focus').waitFor()
    // The operation was open before.
    t.equal(await countOf(signIn, 0), 0)
    t.equal(await execute(profile), 200)
    await projects.locator('summary').first().click()
    await projects.locator('.answers').waitFor()
    t.equal(await execute(projects), 200)

    // The lock of an operation opens the same dialog.
    await projects.locator('.authorization__btn').click()
    await dialog.getByRole('button', { name: 'Logout' }).first().click()
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    t.strictSame(complaints, [])
    t.equal(await execute(profile), 401)
  })

  t.test('an operation that writes is sent with a second click, and says as whom', async (t) => {
    const visitor = await visit(ada)
    const { page, complaints } = visitor
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
    await openReference(visitor, '/api/docs#/team/createWorkspace')
    t.equal(await visitor.field('Document').inputValue(), '/api/openapi.json', 'on everything')
    const create = operationOf(visitor, 'team/createWorkspace')
    await page.getByText('Signed in as ada').waitFor()
    await create.getByRole('button', { name: 'Send…', exact: true }).click()
    await create.getByText('This can change or delete real data of this service.').waitFor()
    t.strictSame(sent, [])
    await create.getByRole('button', { name: 'Send as ada', exact: true }).click()
    await create.locator('.live-responses-table .response-col_status').last().waitFor()
    t.strictSame(sent, ['/api/team/workspaces/create'])
    t.strictSame(complaints, [])
  })

  t.test('several operations can be open together and keep their input', async (t) => {
    const visitor = await visit(ada)
    const { page, complaints } = visitor
    await openReference(visitor, PUSH)
    await page.getByText('Signed in as ada').waitFor()
    const push = operationOf(visitor, 'settings/pushSettings')
    const pull = operationOf(visitor, 'settings/pullSettings')
    await push.getByLabel('owner', { exact: true }).fill('somebody')
    await pull.locator('summary').first().click()
    await pull.locator('.answers').waitFor()
    t.equal(new URL(page.url()).hash, '#/settings/pullSettings')
    await push.locator('summary').first().click()
    t.notOk(await push.locator('.answers').isVisible())
    await push.locator('summary').first().click()
    t.equal(await push.getByLabel('owner', { exact: true }).inputValue(), 'somebody')
    await push.locator('summary').first().click()
    // The page hears of it a moment later.
    await page.waitForURL((url) => url.hash === '')
    await page.locator('#schemas summary').click()
    await page.locator('#schemas').getByText('AccessKey', { exact: true }).waitFor()
    t.strictSame(await visitor.violations('#schemas'), [])
    t.strictSame(complaints, [])
  })

  t.test('an operation that failed to load can be opened again', async () => {
    const visitor = await visit()
    const { page } = visitor
    await page.route(/openapi\.core\.json/, (route) => route.abort())
    await openReference(visitor)
    const operation = operationOf(visitor, 'profile/getProfile')
    await operation.locator('summary').click()
    await visitor.sees('Could not load this part. Close it, then open it again.')
    await page.unroute(/openapi\.core\.json/)
    await operation.locator('summary').click()
    await operation.locator('summary').click()
    await operation.locator('.answers').waitFor()
  })

  t.test('each page’s sidebar leads to every operation and every guide', async (t) => {
    const { page } = visitor
    await visitor.open('/api/docs/webhooks')
    const { body } = await service.request('GET', '/api/openapi.json')
    const paths = Object.values<Record<string, { tags: string[]; operationId: string }>>(body.paths)
    const operations = paths
      .flatMap((path) => Object.values(path))
      .map(({ tags, operationId }) => `#/${tags[0]}/${operationId}`)
    const links = page.locator('#side details a')
    const hashes = await links.evaluateAll((all) => all.map((link) => new URL(String(link)).hash))
    t.strictSame(hashes.sort(), operations.sort())
    t.equal(await page.locator('#side [aria-current]').textContent(), 'Webhooks')
    await page.locator('#side summary').filter({ hasText: 'team' }).click()
    await visitor.link('GET List the members').click()
    await operationOf(visitor, 'team/listMembers').locator('.answers').waitFor()
    await visitor.link('Sessions').click()
    await visitor.heading('Sessions').waitFor()
  })

  t.test('an operation explains each header and error once, and can be collapsed', async (t) => {
    const { page, complaints } = visitor
    await openReference(visitor, PUSH)
    const operation = operationOf(visitor, 'settings/pushSettings')
    t.equal(await countOf(operation.locator('.answers details'), 2), 2)
    t.equal(await countOf(operation.locator('.answers details[open]'), 0), 0)
    t.strictSame(await operation.locator('.response .response-col_status').allTextContents(), ['200'])
    t.equal(await countOf(operation.locator('a:not([href])'), 0), 0)
    const height = await operation.evaluate((element) => element.clientHeight)
    t.ok(height < 3_000, `${height} pixels tall`)

    const { body } = await service.request('GET', '/api/openapi.core.json')
    const { responses } = body.paths['/api/settings/{owner}/{repo}'].put
    const codes = Object.values<{ content: Record<string, { examples?: object }> }>(responses).flatMap(
      ({ content }) => Object.keys(content['application/problem+json']?.examples ?? {}),
    )
    const errors = operation.locator('.answers details').first()
    await errors.locator('summary').click()
    t.strictSame(await errors.locator('dt a').allTextContents(), codes)
    for (const text of await errors.locator('dd').allTextContents()) t.ok(text.length > 10, text)
    const headers = operation.locator('.answers details').last()
    await headers.locator('summary').click()
    const names = Object.values<{ headers: object }>(responses).flatMap(({ headers }) => Object.keys(headers))
    t.strictSame(await headers.locator('dt').allTextContents(), [...new Set(names)])
    for (const text of await headers.locator('dd').allTextContents()) t.ok(text.length > 10, text)
    await errors.getByRole('link', { name: 'version_conflict' }).click()
    await page.waitForURL(/errors#version_conflict$/)
    t.strictSame(complaints, [])
  })

  t.test('samples use the service’s URL and can be copied', async (t) => {
    const visitor = await visit(ada)
    const { page, context, complaints } = visitor
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = () => page.evaluate('navigator.clipboard.readText()')
    await openReference(visitor, PUSH)
    const push = operationOf(visitor, 'settings/pushSettings')
    const samples = push.locator('.code-samples')
    for (const language of ['curl', 'JavaScript', 'Python']) {
      await samples.getByRole('button', { name: language }).click()
      await samples.getByRole('button', { name: 'Copy' }).click()
      await samples.getByRole('button', { name: 'Copied' }).waitFor()
      const text = String(await copied())
      t.ok(text.includes(service.url), text)
      t.notMatch(text, /SERVICE/)
      t.equal(
        text.includes("import { createClient } from '@team-settings/client'"),
        language === 'JavaScript',
      )
    }

    // The samples follow what is entered. Variables of the shell in it are only text.
    await push.getByRole('button', { name: 'Send…', exact: true }).waitFor()
    await push.getByLabel('repo', { exact: true }).fill('$HOME')
    await push.getByLabel('If-Match', { exact: true }).fill('"`id`"')
    await push.getByLabel('Request body', { exact: true }).fill('{"settings":{}}')
    await samples.getByRole('button', { name: 'curl' }).click()
    await samples.getByText('-d \'{"settings":{}}\'').waitFor()
    t.equal(
      await samples.locator('pre').textContent(),
      `curl -X PUT "${service.url}/api/settings/acme/%24HOME" \\
  -H "Authorization: Bearer $TOKEN" \\
  -H "X-Repohost-Token: $REPOHOST_TOKEN" \\
  -H "If-Match: \\"\\\`id\\\`\\"" \\
  -H 'Content-Type: application/json' \\
  -d '{"settings":{}}'`,
    )

    await visitor.open('/api/docs/getting-started')
    const commands = page.locator('.sample')
    t.notMatch((await commands.allTextContents()).join('\n'), /\$SERVICE|env\.SERVICE/)
    const first = commands.filter({ hasText: 'api/auth/verify' })
    await first.getByRole('button').click()
    await first.getByRole('button', { name: 'Copied' }).waitFor()
    t.equal(
      await copied(),
      `curl "${service.url}/api/auth/verify" -H 'Content-Type: application/json' -d "{\\"repohost_token\\":\\"$REPOHOST_TOKEN\\"}"\n`,
    )
    t.strictSame(complaints, [])
  })

  t.test('search engines and browsers get a description of each page', async (t) => {
    for (const [path, title] of [
      ['/api/docs/webhooks', 'Webhooks'],
      ['/api/docs/errors', 'Errors'],
    ] as const) {
      const { text } = await service.request('GET', path)
      const description = text.match(/<meta name="description" content="([^"]*)"/)?.[1]
      t.equal(description, `${title}: the HTTP API for the settings and the activity of teams.`)
    }
  })

  t.test('the error page has a table of contents with every code', async (t) => {
    const { page } = visitor
    await visitor.open('/api/docs/errors')
    const links = await page.locator('.contents li a').allTextContents()
    t.strictSame(links.sort(), [...errorCodes].sort())
    await visitor.link('rate_limited').first().click()
    t.ok(await page.locator('section#rate_limited:target').isVisible())
  })

  t.test('the dashboard and the reference share a theme', async (t) => {
    const visitor = await visit(ada)
    const { page } = visitor
    const theme = () => page.locator('html').getAttribute('data-theme')
    await visitor.open('/')
    await visitor.button('Change theme (system)').click()
    await openReference(visitor)
    t.equal(await theme(), 'light')
    const other = await visitor.context.newPage()
    await other.goto(`${service.url}/api/docs/errors`)
    await visitor.button('Change theme (light)').click()
    t.equal(await theme(), 'dark')
    await other.locator('html[data-theme="dark"].dark-mode').waitFor()
    await visitor.open('/')
    t.equal(await theme(), 'dark')
    await visitor.button('Change theme (dark)').waitFor()
  })

  t.test('an operation can be found and opened with the keyboard only', async (t) => {
    const visitor = await visit(ada)
    const { page } = visitor
    await openReference(visitor)
    await page.keyboard.press('/')
    await page.keyboard.type('create an invite')
    await page.locator('#results li:first-child a[href$="#/team/createInvite"]').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await operationOf(visitor, 'team/createInvite').locator('.answers').waitFor()
    await operationOf(visitor, 'team/createInvite').locator('summary:focus').waitFor()
    t.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')

    await page.setViewportSize({ width: 390, height: 844 })
    await visitor.button('Contents').focus()
    t.notOk(await page.locator('#side').isVisible())
    await page.keyboard.press('Enter')
    t.ok(await page.locator('#side').isVisible())
    await page.keyboard.press('Escape')
    t.notOk(await page.locator('#side').isVisible())
  })

  t.test('every page is accessible and fits in 320 pixels, in light, dark and forced colors', async (t) => {
    const { page, complaints } = visitor
    const screens: [name: string, part: string, open: () => Promise<unknown>][] = [
      ['an operation', 'html', () => openReference(visitor, PUSH)],
      [
        'results',
        '#results',
        () => filter(visitor, 'invite').then(() => page.locator('#results a').first().waitFor()),
      ],
      ['a guide', 'html', () => visitor.open('/api/docs/webhooks')],
      ['the errors', 'html', () => visitor.open('/api/docs/errors')],
    ]
    for (const [name, part, open] of screens) {
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.emulateMedia({ colorScheme: 'light' })
      await open()
      if (name === 'an operation')
        for (const summary of await page.locator('.answers summary').all()) await summary.click()
      t.strictSame(await visitor.violations(part), [], name)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.setViewportSize({ width: 320, height: 700 })
      t.ok((await visitor.width()) <= 320, `${name} is ${await visitor.width()} pixels wide`)
      t.strictSame(await visitor.violations(part), [], `${name} in dark in 320 pixels`)
    }
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.emulateMedia({ forcedColors: 'active' })
    const outline = 'getComputedStyle(document.querySelector("#side [aria-current]")).outlineStyle'
    t.equal(await page.evaluate(outline), 'solid')
    t.strictSame(complaints, [])
  })
}
