/** Who is signed in: with the editor's own GitHub account, or with a token of the repository host. */
import { type Client, createClient } from '@team-settings/client'
import * as vscode from 'vscode'

/** Secrets: a token of the repository host that was entered by hand, and the session at the service. */
const HOST_TOKEN = 'ext.hostToken'
const SESSION = 'ext.session'
const WHO = ['read:user']

export interface Session {
  client: Client
  login: string
  /** The token of the repository host, which a push has to show. */
  hostToken(): Promise<string | undefined>
}

const setting = <T>(name: string, other: T): T => vscode.workspace.getConfiguration('ext').get(name, other)

/** Tokens are sent to the address that the user has set, and leave this machine only encrypted. */
const serviceUrl = (): string => {
  const address = setting('cloudUrl', '')
  const { protocol, hostname } = new URL(URL.canParse(address) ? address : 'none:')
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  if (protocol === 'https:' || isLocal) return address
  throw new Error('Set ext.cloudUrl to the https:// address of your service.')
}

const hostToken = async (context: vscode.ExtensionContext, ask: boolean, scopes = WHO) => {
  const entered = await context.secrets.get(HOST_TOKEN)
  if (entered !== undefined) return entered
  const how = ask ? { createIfNone: true } : { silent: true }
  return (await vscode.authentication.getSession('github', scopes, how))?.accessToken
}

/** The session of the last time, or a new one; undefined when nobody is signed in and nobody shall be asked. */
export const signIn = async (context: vscode.ExtensionContext, { ask }: { ask: boolean }) => {
  const baseUrl = serviceUrl()

  const verify = async (mayAsk: boolean) => {
    const token = await hostToken(context, mayAsk)
    if (token === undefined) return undefined
    const { data } = await createClient({ baseUrl }).request('POST /api/auth/verify', {
      body: { repohost_token: token },
    })
    const session = { baseUrl, token: data.token, login: data.login }
    await context.secrets.store(SESSION, JSON.stringify(session))
    return session
  }

  const stored = await context.secrets.get(SESSION)
  const last: { baseUrl: string; token: string; login: string } | undefined = stored && JSON.parse(stored)
  // A session of another service must not be shown to this one.
  const session = last?.baseUrl === baseUrl && !ask ? last : await verify(ask)
  if (session === undefined) return undefined
  const client = createClient({
    baseUrl,
    token: session.token,
    // After 30 days. Minutes that wait belong to one person, so another one's token is none.
    onUnauthorized: async () => {
      const next = await verify(false)
      return next?.login === session.login ? next.token : undefined
    },
  })
  // GitHub has no smaller scope than `repo` that shows a private repository, and it also writes to all of them.
  const scopes = () => (setting('pushPrivateRepositories', false) ? [...WHO, 'repo'] : WHO)
  return { client, login: session.login, hostToken: () => hostToken(context, true, scopes()) }
}

export const enterToken = async (context: vscode.ExtensionContext): Promise<boolean> => {
  const prompt = 'A personal access token of the repository host. It is kept in the editor’s secret storage.'
  const token = await vscode.window.showInputBox({ prompt, password: true, ignoreFocusOut: true })
  if (!token) return false
  await context.secrets.store(HOST_TOKEN, token)
  return true
}

export const signOut = async (context: vscode.ExtensionContext, session: Session | undefined) => {
  await context.secrets.delete(HOST_TOKEN)
  await context.secrets.delete(SESSION)
  await session?.client.request('POST /api/auth/logout')
}
