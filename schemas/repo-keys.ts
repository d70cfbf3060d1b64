/** A repository's names in lower case, for comparisons. */
export interface RepoKeys {
  ownerKey: string
  repoKey: string
}

/** `owner/repo` is split at the last slash, because at GitLab the owner is a group path. */
export const splitRepo = (path: string): { owner: string; repo: string } => {
  const end = path.lastIndexOf('/')
  return { owner: path.slice(0, Math.max(end, 0)), repo: path.slice(end + 1) }
}

export const repoKeysOf = ({ owner, repo }: { owner: string; repo: string }): RepoKeys => ({
  ownerKey: owner.toLowerCase(),
  repoKey: repo.toLowerCase(),
})
