/** The person who is signed in: with the editor's account, or with a repository-host token. */
import { createClient } from '@team-settings/client'
import * as vscode from 'vscode'
import { PREFIX, setting } from './names.js'

/** Secrets: a token of the repository host that was entered by hand, and the session at the service. */
const [HOST_TOKEN, SESSION] = ['hostToken', 'session']
/** Tokens are sent to the address that the user has set, and leave this machine only encrypted. */
const serviceUrl = (): string => {
  const address = `${setting('cloudUrl')}`
  if (/^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$))/i.test(address)) return address
  throw new Error(`Set ${PREFIX}cloudUrl to the https:// address of your service.`)
}

/** A repository-host token. The host is GitHub unless the setting `signInWith` says otherwise. */
const hostToken = async ({ secrets }: vscode.ExtensionContext, ask: boolean, more: string[] = []) => {
  const entered = await secrets.get(HOST_TOKEN)
  const provider = `${setting('signInWith')}`
  // A token of GitHub must not be sent to the service of another host.
  if (entered !== undefined || provider === 'token') return entered
  const how = ask ? { createIfNone: true } : { silent: true }
  return (await vscode.authentication.getSession(provider, ['read:user', ...more], how))?.accessToken
}

/** Asks for a token of the repository host. */
export const enterToken = async ({ secrets }: vscode.ExtensionContext): Promise<boolean> => {
  const prompt = 'A personal access token of the repository host. It is kept in the editor’s secret storage.'
  const token = await vscode.window.showInputBox({ prompt, password: true, ignoreFocusOut: true })
  if (token) await secrets.store(HOST_TOKEN, token)
  return Boolean(token)
}

export type Session = NonNullable<Awaited<ReturnType<typeof signIn>>>
/** The last session or else, unless `ask` is undefined, a new one. With `ask`, the person can choose another account. */
export const signIn = async (context: vscode.ExtensionContext, ask?: boolean) => {
  const baseUrl = serviceUrl()
  const verify = async (mayAsk: boolean) => {
    const token = await hostToken(context, mayAsk)
    if (token === undefined) return undefined
    const body = { repohost_token: token }
    const { data } = await createClient({ baseUrl }).request('POST /api/auth/verify', { body })
    const session = { baseUrl, token: data.token, login: data.login }
    await context.secrets.store(SESSION, JSON.stringify(session))
    return session
  }
  const last: Awaited<ReturnType<typeof verify>> = JSON.parse((await context.secrets.get(SESSION)) ?? 'null')
  // A session of another service must not be shown to this one.
  const known = last?.baseUrl === baseUrl && !ask ? last : undefined
  const session = known ?? (ask === undefined ? undefined : await verify(ask))
  if (session === undefined) return undefined
  const { login, token } = session
  // Minutes that wait belong to one person, so another person's token is rejected.
  const tokenOf = (next: typeof last) => (next?.login === login ? next.token : undefined)
  // GitHub has no smaller scope than `repo` that shows a private repository, and it also writes to all of them.
  const more = () => (setting('pushPrivateRepositories') ? ['repo'] : [])
  const client = createClient({ baseUrl, token, onUnauthorized: () => verify(false).then(tokenOf) })
  // A push has to show the token of the repository host.
  return { client, login, hostToken: () => hostToken(context, true, more()) }
}

export const signOut = async ({ secrets }: vscode.ExtensionContext, session: Session | undefined) => {
  for (const secret of [HOST_TOKEN, SESSION]) await secrets.delete(secret)
  await session?.client.request('POST /api/auth/logout')
}
