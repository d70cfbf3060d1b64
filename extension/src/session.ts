/** The person who is signed in: with the editor's account, or with a repository-host token. */
import * as vscode from 'vscode'
import { type Client, createClient } from '../../client/src/index.js'
import { isSafeAddress } from '../../schemas/service-address.js'

/** A setting of this extension itself. */
export const setting = (name: string) => vscode.workspace.getConfiguration('teamSettings').get<unknown>(name)

/** Secrets: a token of the repository host that was entered by hand, and the session at the service. */
const HOST_TOKEN = 'hostToken'
export const SESSION = 'session'

/** The stored session. */
interface Stored {
  baseUrl: string
  token: string
  login: string
  mark?: string
}

/** The latest sign-in or sign-out, in a file, because a tab of a browser isn't told of another tab's secrets. */
interface Mark {
  /** Null: signed out. */
  id: string | null
  baseUrl: string
}
const markFile = ({ globalStorageUri }: vscode.ExtensionContext) =>
  vscode.Uri.joinPath(globalStorageUri, 'session.json')
const readMark = async (context: vscode.ExtensionContext): Promise<Mark | undefined> => {
  const read = await Promise.resolve(vscode.workspace.fs.readFile(markFile(context))).catch(() => undefined)
  try {
    return read && JSON.parse(new TextDecoder().decode(read))
  } catch {
    return undefined // Another window is writing it.
  }
}
const writeMark = (context: vscode.ExtensionContext, mark: Mark) =>
  vscode.workspace.fs.writeFile(markFile(context), new TextEncoder().encode(JSON.stringify(mark)))
/** Changes with each sign-in and sign-out, in whatever window. Undefined: signed out, or signed in by an earlier version. */
export const markOf = async (context: vscode.ExtensionContext): Promise<string | undefined> =>
  (await readMark(context))?.id ?? undefined

export interface Session {
  client: Client
  login: string
  baseUrl: string
}

/** Tokens go only to the address that the person has set, and only encrypted if it's on another machine. */
export const serviceUrl = (): string => {
  const address = `${setting('url')}`
  if (isSafeAddress(address)) return address
  throw new Error('Set teamSettings.url to the https:// address of your service.')
}

/** A repository-host token. The host is GitHub unless the setting `signInWith` says otherwise. */
const hostToken = async ({ secrets }: vscode.ExtensionContext, ask: boolean, more: string[] = []) => {
  const entered = await secrets.get(HOST_TOKEN)
  const provider = `${setting('signInWith')}`
  // A token of GitHub must not be sent to the service of another host.
  if (entered !== undefined || provider === 'token') return entered
  const sessionOptions = ask ? { createIfNone: true } : { silent: true }
  const session = await vscode.authentication.getSession(provider, ['read:user', ...more], sessionOptions)
  return session?.accessToken
}

/**
 * For a push. GitHub has no smaller scope than `repo` that shows a private repository, although `repo` also allows
 * writing to all of them.
 */
export const pushToken = (context: vscode.ExtensionContext) =>
  hostToken(context, true, setting('pushPrivateRepositories') ? ['repo'] : [])

/** Asks for a token of the repository host. */
export const enterToken = async ({ secrets }: vscode.ExtensionContext): Promise<boolean> => {
  const prompt = 'A personal access token of the repository host. It is kept in the editor’s secret storage.'
  const token = await vscode.window.showInputBox({ prompt, password: true, ignoreFocusOut: true })
  if (token) await secrets.store(HOST_TOKEN, token)
  return Boolean(token)
}

/** @param given the mark of the session to renew. Undefined: a new sign-in */
const verify = async (
  context: vscode.ExtensionContext,
  baseUrl: string,
  { ask, mark: given }: { ask: boolean; mark: string | undefined },
) => {
  const token = await hostToken(context, ask)
  if (token === undefined) return undefined
  const { data } = await createClient({ baseUrl }).request('POST /api/auth/verify', {
    body: { repohost_token: token },
  })
  const mark = given ?? (ask ? crypto.randomUUID() : undefined)
  const stored: Stored = { baseUrl, token: data.token, login: data.login, ...(mark && { mark }) }
  if (ask && mark) await writeMark(context, { id: mark, baseUrl })
  await context.secrets.store(SESSION, JSON.stringify(stored))
  return { ...stored, missingScope: data.missing_scope }
}

/** Asks who the person is, and stores the session. Undefined: they changed their mind. */
export const signIn = (context: vscode.ExtensionContext) =>
  verify(context, serviceUrl(), { ask: true, mark: undefined })

/** The stored session, if it belongs to the service that is set. No one is signed in unasked. */
export const openSession = async (
  context: vscode.ExtensionContext,
  onRevoked: () => void,
): Promise<Session | undefined> => {
  const baseUrl = `${setting('url')}`
  const mark = await readMark(context)
  const known: Stored | null = JSON.parse((await context.secrets.get(SESSION)) ?? 'null')
  const isMarked = mark === undefined || known?.mark === (mark.id ?? '')
  // The person has signed in in another tab, which doesn't share its secrets.
  const isElsewhere = !isMarked && mark.id !== null && mark.baseUrl === baseUrl
  const stored = isMarked
    ? known
    : isElsewhere
      ? await verify(context, baseUrl, { ask: false, mark: mark.id ?? undefined })
      : undefined
  if (stored?.baseUrl !== baseUrl) return undefined
  const { login, token } = stored
  const onUnauthorized = async (code: string) => {
    // The person has just signed out, perhaps in another window.
    if ((await context.secrets.get(SESSION)) === undefined) return undefined
    if ((await markOf(context)) !== stored.mark) return undefined
    // The person, or an admin, has ended this session on purpose.
    if (code === 'token_revoked') return onRevoked() as undefined
    const next = await verify(context, baseUrl, { ask: false, mark: stored.mark })
    // Minutes that wait belong to one person, so another person's token is rejected.
    return next?.login === login ? next.token : undefined
  }
  return { login, baseUrl, client: createClient({ baseUrl: serviceUrl(), token, onUnauthorized }) }
}

export const signOut = async (context: vscode.ExtensionContext, session: Session | undefined) => {
  const { secrets } = context
  await writeMark(context, { id: null, baseUrl: `${setting('url')}` })
  for (const secret of [HOST_TOKEN, SESSION]) await secrets.delete(secret)
  // The response isn't awaited, because this editor is signed out once the token is deleted.
  session?.client.request('POST /api/auth/logout', { retry: false }).catch(() => {})
}
