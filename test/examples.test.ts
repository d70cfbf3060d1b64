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

/** These delete what the others need, or depend on each other. */
const last = [
  'linkOrganization',
  'readOrganization',
  'unlinkOrganization',
  'patchWorkspaceSettings',
  'deleteWebhook',
  'leaveWorkspace',
  'removeMember',
  'deleteSettings',
  'removeOverride',
  'putConfiguration',
  'revokeInvite',
  'revokeKey',
  'revokeWorkspaceKey',
  'deleteWorkspace',
  'deleteAccount',
  'logout',
]

/**
 * These need preparation that this test doesn't do: a login in progress, a file, a schema, a renamed repository, a
 * signature of the repository host.
 */
const unprepared: Record<string, { status: number; code: string }> = {
  finishLogin: { status: 400, code: 'oauth_state_invalid' },
  moveSettings: { status: 403, code: 'repo_access_denied' },
  startImport: { status: 400, code: 'validation_failed' },
  getSettingsSchema: { status: 404, code: 'schema_not_configured' },
  receiveDelivery: { status: 400, code: 'signature_invalid' },
}

t.test('every example in the document gets the documented response', async (t) => {
  const { env, providers } = await startProviders(t)
  const service = await startService(t, { env: { ...env, ADMIN_KEYS: 'an-admin-key' } })
  const [ada, bob, carol] = [
    await service.signIn('ada', { mayAskOrganizations: true }),
    await service.signIn('bob'),
    await service.signIn('carol'),
  ]
  service.repohost.organizations.push({ id: 1, name: 'acme', members: new Map([[ada.repohostId, 'admin']]) })
  const callers: Record<string, Caller> = { joinWorkspace: bob, leaveWorkspace: carol }
  const { id, code } = await service.workspace(ada, { members: [bob, carol] })
  const ownKey = await ada.post('/api/me/keys', { name: 'laptop', scopes: ['activity:write'] })
  const key = await ada.post(`/api/team/workspaces/${id}/keys`, { name: 'build', scopes: ['counts:write'] })
  const { body: listed } = await ada.get(`/api/team/workspaces/${id}/invites`)
  for (const theme of ['light', 'dark', 'solarized'])
    await ada.push('acme/api-gateway', { 'ext.theme': theme })
  for (const a of [1, 2, 3]) {
    await ada.patch(`/api/team/workspaces/${id}/settings`, { settings: { 'ext.a': a } })
    await ada.put(`/api/team/workspaces/${id}/project-settings/acme/api-gateway`, {
      settings: { 'ext.a': a },
    })
  }
  await ada.post(`/api/team/workspaces/${id}/webhook`)
  await ada.post('/api/billing/checkout')

  /** Replaces the examples' values with real ones. */
  const actual = (text: string, { operationId }: Operation, { repohostToken }: Caller) =>
    text
      .replace(/(?<=\/invites\/)[0-9a-f-]{36}/, listed.invites[0].id)
      .replace(/(?<=\/me\/keys\/)[0-9a-f-]{36}/, ownKey.body.id)
      .replace(/(?<=\/keys\/)0193a0c2-[0-9a-f-]{27}/, key.body.id)
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
    const rejection = unprepared[operationId]
    if (rejection) {
      t.strictSame({ status: reply.status, code: reply.body.code }, rejection, operationId)
      continue
    }
    const [status, response] = Object.entries(responses)[0] ?? ['', {}]
    t.equal(String(reply.status), status, `${operationId}: ${reply.body?.detail}`)
    const { example, examples = {} } = response.content?.['application/json'] ?? {}
    const shown = example ?? Object.values(examples)[0]?.value ?? {}
    // Elsewhere, only a schema that settings break leads to warnings.
    const members = Object.keys(shown).filter(
      (name) => name !== 'missing_scope' && (name !== 'warnings' || operationId === 'putConfiguration'),
    )
    t.strictSame(Object.keys(reply.body ?? {}).sort(), members.sort(), operationId)
  }
})
