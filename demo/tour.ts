import type { Config } from '../src/config.js'
import { type BillingProviderStandIn, signatureOf } from './billing-provider.js'
import type { Demo } from './seed.js'

interface Tour {
  config: Config
  demo: Demo
  billing: BillingProviderStandIn
  /** Keys that the model providers accept. */
  modelKeys: { a: string; b: string }
}

/** The text that the demo prints: tokens, and a command for every group of routes. */
export const describeDemo = ({ config, demo, billing, modelKeys }: Tour): string => {
  const { ada, bob, eve, acme, globex, acmeInvite, etag, oldEtag } = demo
  const api = `${config.baseUrl}/api`
  const json = "-H 'Content-Type: application/json'"
  const get = (path: string) => `curl -H "Authorization: Bearer $ADA" '${api}${path}'`
  const send = (method: string, path: string, body: object, who = 'ADA') =>
    `curl -X ${method} -H "Authorization: Bearer $${who}" ${json} '${api}${path}' -d '${JSON.stringify(body)}'`
  const push = (repo: string, settings: object, condition = '') =>
    `curl -X PUT -H "Authorization: Bearer $ADA" -H "X-Repohost-Token: $REPOHOST_TOKEN" ${condition}${json} '${api}/settings/${repo}' -d '${JSON.stringify({ settings })}'`
  const changed = { [`${config.extensionPrefix}.timeout`]: 4_000 }
  const notification = JSON.stringify({
    id: 'evt_demo',
    type: 'invoice.paid',
    created: 1,
    data: { object: {} },
  })
  const week = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10)
  const today = new Date().toISOString().slice(0, 10)

  const groups: [title: string, commands: string[]][] = [
    [
      'The main features, one per line',
      [
        '# 403: bob is a member, and only an admin renames a workspace',
        send('PATCH', `/team/workspaces/${acme}`, { name: 'Bobs' }, 'BOB'),
        '# 409: no workspace of ada covers this repository, and the response suggests a pattern',
        push('initech/reports', changed),
        '# 200: eve joins Acme',
        send('POST', '/team/workspaces/join', { code: acmeInvite }, 'EVE'),
        '# 304: ada has these settings already',
        `curl -i -H "Authorization: Bearer $ADA" -H 'If-None-Match: ${etag}' '${api}/settings/acme/api-gateway'`,
        '# 412: another person has pushed since ada pulled',
        push('acme/api-gateway', changed, `-H 'If-Match: ${oldEtag}' `),
        '# 200: the dashboard of a team of 25, as CSV',
        get(`/team/dashboard?workspace=${acme}&from=${week}&to=${today}&format=csv`),
        '# 200: who changed what',
        get(`/team/workspaces/${acme}/audit?limit=5`),
        '# 422: no override can change a locked setting',
        send('PUT', `/team/workspaces/${acme}/project-settings/acme/web`, {
          settings: { [`${config.extensionPrefix}.timeout`]: 60_000 },
        }),
        '# 200: the last change was a mistake, as the schema warned; this restores the version before it',
        send('POST', `/team/workspaces/${acme}/settings/restore`, { version: 3 }),
        '# 200: the effective settings of a repository: those of its workspace, merged with its override',
        get('/team/effective-config?repo=acme/web'),
      ],
    ],
    [
      'Sign in',
      [
        `curl ${json} '${api}/auth/verify' -d "{\\"repohost_token\\":\\"$REPOHOST_TOKEN\\"}"`,
        `# in a browser, as ada: ${api}/auth/repohost`,
      ],
    ],
    ['Profile and projects', [get('/me'), get('/projects')]],
    [
      'Settings',
      [
        get('/settings/acme/api-gateway'),
        get('/settings/acme/api-gateway/versions'),
        push('acme/web', changed),
      ],
    ],
    [
      'Workspaces',
      [
        get('/team/me'),
        get(`/team/workspaces/${acme}/members`),
        get(`/team/workspaces/${globex}/patterns`),
        get(`/team/workspaces/${acme}/settings`),
        get(`/team/workspaces/${acme}/project-settings`),
        send('POST', `/team/workspaces/${acme}/invites`, { role: 'member', max_uses: 5 }),
        get('/team/effective-config?repo=acme/api-gateway'),
      ],
    ],
    [
      'Activity',
      [
        send('POST', '/team/active-minutes', {
          entries: [{ repo: 'acme/web', day: today, minutes: 25, hours: { '9': 25 } }],
        }),
        get(`/team/active-minutes?day=${today}`),
        get(`/team/dashboard?workspace=${acme}&from=${week}&to=${today}`),
        '# what the repository host has reported: commits and a closed issue, which the dashboard counts',
        get(`/team/workspaces/${acme}/webhook`),
      ],
    ],
    [
      'Billing (open the checkout’s URL to pay, then look at /me; the notification is signed for five minutes)',
      [
        send('POST', '/billing/checkout', { interval: 'month' }),
        send('POST', '/billing/portal', {}),
        `curl -H 'Billing-Signature: ${signatureOf(notification)}' ${json} '${api}/billing-provider/webhook' -d '${notification}'`,
      ],
    ],
    [
      'Models',
      [get(`/assistant-a-models?apiKey=${modelKeys.a}`), get(`/assistant-b-models?apiKey=${modelKeys.b}`)],
    ],
    [
      'Funnel',
      [
        send('POST', '/events', { event: 'panel_opened', source: 'dashboard' }),
        `curl -H "X-Service-Admin-Key: $ADMIN" '${api}/admin/funnel'`,
      ],
    ],
    ['Sign out: this ends the token of bob', [send('POST', '/auth/logout', {}, 'BOB')]],
    ['The service', [`curl '${api}/limits'`, `curl '${api}/health'`, `curl '${api}/ready'`]],
  ]
  return [
    '',
    `The service is at   ${config.baseUrl}${config.dashboard ? ' (open it and choose who you are)' : ''}`,
    `The reference is at ${api}/docs`,
    `The stand-ins: repository host ${config.repohost.url}, billing ${billing.url},`,
    `               models ${config.assistants.a} and ${config.assistants.b}`,
    '',
    ...(config.dashboard
      ? [
          'Look at this first:',
          `  1. ${config.baseUrl} as ada: what changed in a team of 25, with a release, holidays and a day that isn’t over.`,
          '  2. Her Settings: a form with a locked key, a value that the schema warns about, and versions to restore.',
          '  3. As zoe: My activity, with the time of her assistant, and under Privacy what is recorded about her and who has viewed it.',
          `  4. As nia: the first hour of someone new. Her invite: ${config.baseUrl}/join/${acmeInvite}`,
          '',
        ]
      : []),
    'Everything is made up and runs only on this machine. Press Ctrl-C to stop and delete it.',
    '',
    '# ada is admin of Acme, where 25 people work, and member of Globex; bob is a member of both; eve is admin of Globex, whose people come from an organization.',
    `REPOHOST_TOKEN=${ada.repohostToken}`,
    `ADA=${ada.token}`,
    `BOB=${bob.token}`,
    `EVE=${eve.token}`,
    `ADMIN=${config.adminKeys[0]}`,
    ...groups.flatMap(([title, commands]) => ['', `# ${title}`, ...commands]),
    '',
    '',
  ].join('\n')
}
