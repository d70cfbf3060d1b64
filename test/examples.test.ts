import t from 'tap'
import { signatureOf } from '../demo/billing-provider.js'
import { readCurl } from './curl.js'
import { type Caller, startProviders, startService } from './service.js'

type Content = Record<string, { example?: object; examples?: Record<string, { value: object }> }>

interface Operation {
  operationId: string
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
  'x-codeSamples': { label: string; source: string }[]
}

/** These take away what the others need. */
const last = [
  'leaveWorkspace',
  'removeMember',
  'deleteSettings',
  'removeOverride',
  'revokeInvite',
  'deleteWorkspace',
  'deleteAccount',
  'logout',
]

t.test('every example in the document is answered as the document says', async (t) => {
  const { env, providers } = await startProviders(t)
  const service = await startService(t, { env: { ...env, ADMIN_KEYS: 'an-admin-key' } })
  const [ada, bob, carol] = [
    await service.signIn('ada'),
    await service.signIn('bob'),
    await service.signIn('carol'),
  ]
  const callers: Record<string, Caller> = { joinWorkspace: bob, leaveWorkspace: carol }
  const { id, code } = await service.workspace(ada, { members: [bob, carol] })
  const { body: listed } = await ada.get(`/api/team/workspaces/${id}/invites`)
  for (const theme of ['light', 'dark', 'solarized'])
    await ada.push('acme/api-gateway', { 'ext.theme': theme })
  await ada.put(`/api/team/workspaces/${id}/project-settings/acme/api-gateway`, { settings: { 'ext.a': 1 } })
  await ada.post('/api/billing/checkout')

  /** With what the examples stand for. */
  const actual = (text: string, { operationId }: Operation, { repohostToken }: Caller) =>
    text
      .replace(/(?<=\/invites\/)[0-9a-f-]{36}/, listed.invites[0].id)
      .replaceAll('0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d5e', id)
      .replaceAll('7KQ4M-2XW9P-DART6-HBC3E', code)
      .replaceAll('ghp_exampleexampleexampleexampleexample', repohostToken)
      .replaceAll('sk-example', operationId.includes('AssistantA') ? providers.a.key : providers.b.key)
      .replaceAll('2026-11-21', new Date().toISOString().slice(0, 10))

  const { body: document } = await service.request('GET', '/api/openapi.json')
  const operations = Object.values<Record<string, Operation>>(document.paths).flatMap((path) =>
    Object.values(path),
  )
  const place = ({ operationId }: Operation) => last.indexOf(operationId)
  for (const operation of operations.sort((a, b) => place(a) - place(b))) {
    const { operationId, requestBody, responses } = operation
    const caller = callers[operationId] ?? ada
    const { method, url, headers, body } = readCurl(operation['x-codeSamples'][0]?.source ?? '', {
      SERVICE: '',
      TOKEN: caller.token,
      REPOHOST_TOKEN: caller.repohostToken,
      ADMIN_KEY: 'an-admin-key',
      SIGNATURE: signatureOf(JSON.stringify(requestBody?.content['application/json']?.example)),
    })
    const reply = await service.request(method, actual(url, operation, caller), {
      headers,
      body: body && actual(body, operation, caller),
    })
    // A login ends only where one has begun.
    if (operationId === 'finishLogin') {
      t.hasStrict(reply, { status: 400, body: { code: 'oauth_state_invalid' } })
      continue
    }
    const [status, answer] = Object.entries(responses)[0] ?? ['', {}]
    t.equal(String(reply.status), status, `${operationId}: ${reply.text}`)
    const { example, examples = {} } = answer.content?.['application/json'] ?? {}
    const shown = example ?? Object.values(examples)[0]?.value ?? {}
    t.strictSame(Object.keys(reply.body ?? {}).sort(), Object.keys(shown).sort(), operationId)
  }
})
