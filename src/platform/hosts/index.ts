import type { RepohostKind } from '../../../schemas/common.js'
import { forgejo } from './forgejo.js'
import { github } from './github.js'
import { gitlab } from './gitlab.js'
import type { HostKind } from './kind.js'

/** The kinds of repository host, by the values of `REPOHOST_KIND`. */
export const hostKinds: Record<RepohostKind, HostKind> = { github, gitlab, forgejo }
