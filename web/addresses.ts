/** Addresses of the pages of a repository. At GitLab, an owner has slashes, which are encoded. */
interface Name {
  owner: string
  repo: string
}

const pathOf = ({ owner, repo }: Name): string => `${encodeURIComponent(owner)}/${repo}`

export const repoAddress = (workspaceId: string | undefined, name: Name): string =>
  `/w/${workspaceId}/repos/${pathOf(name)}`

export const snapshotAddress = (workspaceId: string, name: Name): string =>
  `/s/${pathOf(name)}?workspace=${workspaceId}`
