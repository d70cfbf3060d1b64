/** The addresses of a repository's pages. At GitLab, an owner has slashes, which are encoded. */
import { matchesPattern, splitRepoPath } from '../client/src/pattern.js'

interface Name {
  owner: string
  repo: string
}

const pathOf = ({ owner, repo }: Name): string => `${encodeURIComponent(owner)}/${repo}`

export const repoAddress = (workspaceId: string | undefined, name: Name): string =>
  `/w/${workspaceId}/repos/${pathOf(name)}`

export const coveringWorkspaces = <W extends { patterns: readonly string[] }>(
  workspaces: readonly W[],
  repo: string,
): W[] => workspaces.filter(({ patterns }) => patterns.some((one) => matchesPattern(one, repo)))

/** A repository's page in the first workspace that covers it. */
export const coveredAddress = (
  workspaces: readonly { id: string; patterns: readonly string[] }[],
  repo: string,
): string | undefined => {
  const [covering] = coveringWorkspaces(workspaces, repo)
  return covering && repoAddress(covering.id, splitRepoPath(repo))
}

/** The page that shows why a repository has its settings. */
export const repoSettingsAddress = (workspaceId: string, name: Name): string =>
  `${repoAddress(workspaceId, name)}/settings`

/** Screens that have moved since 1.0.0. */
const moved: [from: RegExp, to: string][] = [
  [/^(\/w\/[^/]+)\/audit$/, '$1/settings/audit'],
  [/^(\/w\/[^/]+\/settings)\/(?:keys|webhook|organization)$/, '$1/integrations'],
  [/^\/account\/keys$/, '/account/editors'],
  [/^\/account\/(?:usage|workspaces)$/, '/account'],
]

/** A moved screen's new address. */
export const movedAddress = (path: string): string | undefined => {
  const found = moved.find(([from]) => from.test(path))
  return found && path.replace(...found)
}
