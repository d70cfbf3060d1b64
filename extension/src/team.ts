/** Knows what the service says about the person's workspaces, and about the repositories that they match. */
import type * as vscode from 'vscode'
import { ApiProblem, type Client, type EffectiveConfig, idleWindow } from '../../client/src/index.js'
import { isMatch } from './repositories.js'
import type { Session } from './session.js'

/** The configuration of a repository, or undefined where the person isn't a member. */
const configOf = async (client: Client, repo: string): Promise<EffectiveConfig | undefined> => {
  try {
    return (await client.request('GET /api/team/effective-config', { query: { repo } })).data
  } catch (error) {
    const isNoMember = error instanceof ApiProblem && error.code === 'not_a_member'
    if (isNoMember) return undefined
    throw error
  }
}

const VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}$/
/** Whether one version is newer than another. */
export const isNewer = (version: string, than: string): boolean => {
  if (!VERSION.test(version) || !VERSION.test(than)) return false
  const [one, other] = [version.split('.').map(Number), than.split('.').map(Number)]
  const index = one.findIndex((part, at) => part !== other[at])
  return index >= 0 && (one[index] ?? 0) > (other[index] ?? 0)
}

type Workspace = { id: string; name: string; patterns: string[] }
/** Kept for starting without a network. */
interface Remembered {
  baseUrl: string
  login: string
  workspaces: Workspace[]
}

/**
 * Patterns are matched here, so that the service isn't told of repositories that aren't the team's. Until the
 * service has sent the patterns, no repository counts as the team's.
 */
export class Team {
  /** Null: it's in no workspace. */
  readonly repos = new Map<string, { workspace: string | null; idleMinutes: number }>()
  /** The version of the extension that the service has. */
  version = ''
  private workspaces: Workspace[] = []
  /** What the service was asked since everything was last refreshed: folders that open later don't ask for it again. */
  private asked = new Map<string, Promise<unknown>>()

  constructor(private readonly context: vscode.ExtensionContext) {}

  get patterns(): string[] {
    return this.workspaces.flatMap(({ patterns }) => patterns)
  }

  matches(repo: string | undefined): boolean {
    return repo !== undefined && isMatch(this.patterns, repo)
  }

  private once<T>(what: string, request: () => Promise<T>): Promise<T> {
    const { asked } = this
    const earlier = asked.get(what) as Promise<T> | undefined
    if (earlier) return earlier
    const response = request()
    asked.set(what, response)
    response.catch(() => asked.delete(what))
    return response
  }

  /** The service is asked again about everything. */
  forget(): void {
    this.asked = new Map()
  }

  /** Changes the person. */
  start(session: Session | undefined): void {
    this.repos.clear()
    this.forget()
    this.version = ''
    const known = this.context.globalState.get<Remembered>('team')
    const isSame = known?.login === session?.login && known?.baseUrl === session?.baseUrl
    this.workspaces = isSame ? (known?.workspaces ?? []) : []
  }

  /** @param isCurrent whether the same person is still signed in, and nothing was asked again since, here and below */
  async learn({ client, login, baseUrl }: Session, isCurrent: () => boolean): Promise<void> {
    const [{ data: me }, { data: health }] = await this.once('', () =>
      Promise.all([
        client.request('GET /api/team/me'),
        client.request('GET /api/health', { retry: false }).catch(() => ({ data: { version: '' } })),
      ]),
    )
    if (!isCurrent()) return
    this.version = health.version
    // The patterns are stored, so only texts are accepted.
    const texts = (patterns: unknown[]) => patterns.filter((one) => typeof one === 'string')
    this.workspaces = me.workspaces.map(({ id, name, patterns }) => ({ id, name, patterns: texts(patterns) }))
    for (const [repo, { workspace }] of this.repos)
      if (this.matches(repo) === (workspace === null)) this.repos.delete(repo)
    await this.context.globalState.update('team', { baseUrl, login, workspaces: this.workspaces })
  }

  /** The service's response about a repository, which is asked for only if it's the team's. */
  async configOf(
    client: Client,
    repo: string,
    isCurrent: () => boolean,
  ): Promise<EffectiveConfig | undefined> {
    const config = this.matches(repo) ? await this.once(repo, () => configOf(client, repo)) : undefined
    if (!isCurrent()) return config
    this.repos.set(repo, {
      workspace: this.workspaces.find(({ id }) => id === config?.workspace_id)?.name ?? null,
      idleMinutes: idleWindow(config?.idle_window_minutes ?? 5),
    })
    return config
  }
}
