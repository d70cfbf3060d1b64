/** The names of a repository in lower case, for comparisons. */
export interface RepoKeys {
  ownerKey: string
  repoKey: string
}

/** `owner/repo` is divided at the last slash: at GitLab, the owner is a path of groups. */
export const divideRepo = (path: string): { owner: string; repo: string } => {
  const end = path.lastIndexOf('/')
  return { owner: path.slice(0, Math.max(end, 0)), repo: path.slice(end + 1) }
}

export const repoKeysOf = ({ owner, repo }: { owner: string; repo: string }): RepoKeys => ({
  ownerKey: owner.toLowerCase(),
  repoKey: repo.toLowerCase(),
})
