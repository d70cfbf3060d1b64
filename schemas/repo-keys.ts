/** A repository as comparisons see it: names differ in more than case. */
export interface RepoKeys {
  ownerKey: string
  repoKey: string
}

export const repoKeysOf = ({ owner, repo }: { owner: string; repo: string }): RepoKeys => ({
  ownerKey: owner.toLowerCase(),
  repoKey: repo.toLowerCase(),
})
