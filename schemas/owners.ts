/** The valid names for a repository's owner. Without schemas, because the page uses them too. */
import { limits } from './limits.js'

/** The kinds of repository host that the service knows. */
export const repohostKinds = ['github', 'gitlab', 'forgejo'] as const
export type RepohostKind = (typeof repohostKinds)[number]

/** A name on the host, with at most 100 characters. */
export const shortName =
  '([A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}|\\.[A-Za-z0-9_-][A-Za-z0-9_.-]{0,98}|\\.\\.[A-Za-z0-9_.-]{1,98})'

/** At GitLab, an owner is the whole group path. */
export const groups = `${shortName}(/${shortName}){0,${limits.owner_groups - 1}}`

const ownerPatternByKind = { github: undefined, forgejo: undefined, gitlab: new RegExp(`^${groups}$`) }
const plainOwner = new RegExp(`^${shortName}$`)

export const isOwner = (text: string, kind: RepohostKind): boolean =>
  text.length <= limits.owner_path_length && (ownerPatternByKind[kind] ?? plainOwner).test(text)

/** `owner/repo`, divided at the last slash. */
export const isRepoPath = (text: string, kind: RepohostKind): boolean => {
  const end = text.lastIndexOf('/')
  return end > 0 && isOwner(text.slice(0, end), kind) && plainOwner.test(text.slice(end + 1))
}
