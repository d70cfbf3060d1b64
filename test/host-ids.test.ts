/** People are counted by their id at the host where a delivery has one, whatever their login is now. */
import t from 'tap'
import { deliveryShapes } from '../demo/host-deliveries.js'
import { repohostKinds } from '../schemas/common.js'
import { commitOf, startWebhook } from './webhooks.js'

const REPO = 'acme/api-gateway'
/** An id that no account has. */
const STRANGER = 987_654

for (const kind of repohostKinds)
  t.test(`${kind}: an id decides over a renamed or re-registered login`, async (t) => {
    const { webhook, bob, today } = await startWebhook(t, kind)
    const shape = deliveryShapes[kind]
    const at = `${today}T10:00:00Z`
    const resultOf = async (event: string, payload: object) => {
      t.equal((await webhook.send({ event, payload })).status, 200)
      const [{ counted, skipped_because }] = await webhook.deliveries()
      return counted ? 'counts' : Object.keys(skipped_because).find((name) => skipped_because[name])
    }
    let issues = 0
    const close = async (login: string, id: unknown) => {
      const { event, payload } = shape.issue(REPO, { number: ++issues, closed: true, at, login })
      const person = { id, ...(kind === 'gitlab' ? { username: login } : { login }) }
      return resultOf(event, { ...payload, ...(kind === 'gitlab' ? { user: person } : { sender: person }) })
    }
    /** A person pushes a commit of their own. */
    const push = async (login: string, id: unknown, more: object = {}) => {
      const { event, payload } = shape.push(REPO, [{ ...commitOf(login, today), ...more }])
      return resultOf(event, {
        ...payload,
        ...(kind === 'gitlab' ? { user_id: id } : { sender: { id, login } }),
      })
    }
    const people = [
      { login: 'bob', id: bob.repohostId, result: 'counts', about: 'the member' },
      { login: 'bobby', id: bob.repohostId, result: 'counts', about: 'the member, renamed since' },
      { login: 'bob', id: STRANGER, result: 'not_a_member', about: 'a stranger with the former login' },
      {
        login: 'ada',
        id: bob.repohostId,
        result: 'counts',
        about: 'the member with another one’s former login',
      },
      { login: 'bob', id: undefined, result: 'counts', about: 'a login without an id' },
      { login: 'bob', id: 'x', result: 'counts', about: 'a login with an unreadable id' },
      { login: 'bobby', id: undefined, result: 'not_a_member', about: 'an unknown login without an id' },
    ]
    for (const { login, id, result, about } of people) {
      t.equal(await close(login, id), result, `an issue: ${about}`)
      t.equal(await push(login, id), result, `a commit: ${about}`)
    }
    const counts = Object.entries(await webhook.counts())
    t.strictSame(counts, [[`bob ${today} ${REPO}`, { commits: 5, closed_issues: 5 }]])

    if (kind === 'forgejo') return
    const privateOf = (id: number) => `${id}${kind === 'gitlab' ? '-' : '+'}bob@users.noreply.127.0.0.1`
    const pushByAddress = async (login: string, id: number, email: string) => {
      const { event, payload } = shape.push(REPO, [])
      const commit = { ...commitOf('', today), author: { name: login, username: login, email } }
      const pusher =
        kind === 'gitlab'
          ? { user_id: id, user_username: login, user_email: email }
          : { sender: { id, login } }
      return resultOf(event, { ...payload, commits: [commit], ...pusher })
    }
    const member = privateOf(bob.repohostId)
    t.equal(await pushByAddress('stranger', STRANGER, member), 'counts', 'a private address over a login')
    t.equal(await pushByAddress('bob', bob.repohostId, privateOf(STRANGER)), 'not_a_member')
  })
