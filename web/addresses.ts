/** Addresses of the pages of a repository. At GitLab, an owner has slashes, which are encoded. */
import { dividePath, matchesPattern } from '../client/src/pattern.js'

interface Name {
  owner: string
  repo: string
}

const pathOf = ({ owner, repo }: Name): string => `${encodeURIComponent(owner)}/${repo}`

export const repoAddress = (workspaceId: string | undefined, name: Name): string =>
  `/w/${workspaceId}/repos/${pathOf(name)}`

/** The page of a repository in the first workspace that covers it. */
export const coveredAddress = (
  workspaces: readonly { id: string; patterns: readonly string[] }[],
  repo: string,
): string | undefined => {
  const covering = workspaces.find(({ patterns }) => patterns.some((one) => matchesPattern(one, repo)))
  return covering && repoAddress(covering.id, dividePath(repo))
}

export const snapshotAddress = (workspaceId: string, name: Name): string =>
  `/s/${pathOf(name)}?workspace=${workspaceId}`
