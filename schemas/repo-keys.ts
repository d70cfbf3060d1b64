/** The names of a repository in lower case, for comparisons. */
export interface RepoKeys {
  ownerKey: string
  repoKey: string
}

export const repoKeysOf = ({ owner, repo }: { owner: string; repo: string }): RepoKeys => ({
  ownerKey: owner.toLowerCase(),
  repoKey: repo.toLowerCase(),
})
