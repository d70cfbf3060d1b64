import { type Static, Type } from '@sinclair/typebox'
import {
  Closed,
  Day,
  Login,
  Named,
  Nullable,
  RepoPath,
  Resource,
  ref,
  StringEnum,
  Timestamp,
  Uuid,
} from './common.js'
import { limits } from './limits.js'

export const noticeCodes = [
  'level_loosened',
  'key_locked',
  'admin_added',
  'repo_removed',
  'removed_by_admin',
  'removed_by_organization',
  'repo_renamed',
] as const

export const Notice = Resource('Notice', {
  id: Type.String({
    description: 'Stays the same, so that a client can remember the dismissed ones.',
    examples: ['admin_added:0193a0c2-7d55-7cc1-9c5e-6a1f2b3c4d60'],
  }),
  at: Timestamp,
  code: StringEnum(noticeCodes, {
    description:
      '`level_loosened`: admins will see numbers by name. `key_locked`: an admin locked keys that an override sets, so the override no longer changes them. The caller wrote the override or has worked in its repository. `admin_added`: another member became an admin. `repo_removed`: an admin removed a pattern, so that repositories in which the caller has worked, or to which the caller pushed settings, no longer count in the workspace. `removed_by_admin`, `removed_by_organization`: the caller is no longer a member. `repo_renamed`: the repository host reported that a repository was renamed, and its settings are still under the old name. Only admins get it, and POST /api/team/workspaces/{id}/repos/move moves the settings once the host confirms the rename.',
  }),
  workspace: Closed({ id: Uuid, name: Type.String({ examples: ['Acme'] }) }),
  login: Nullable(Login, {
    description:
      'The new admin, or the author of the change: a login or `key <name>`. Null if the caller was removed, the host reported the change, or the author is unknown.',
  }),
  named_from: Nullable(Day, {
    description: 'The first day that admins see by name. Null unless the level was loosened.',
  }),
  keys: Type.Array(Type.String({ examples: ['editor.tabSize'] }), {
    description: `The locked keys that the overrides set, at most ${limits.notice_names}. Empty for other notices.`,
  }),
  repos: Type.Array(RepoPath, {
    description: `The overrides' repositories, those that no longer count, or the old name of a renamed one, at most ${limits.notice_names}. Empty for other notices.`,
  }),
  renamed_to: Nullable(RepoPath, {
    description: 'The new name that the host reported. Null unless a repository was renamed.',
  }),
})
export type Notice = Static<typeof Notice>

export const NoticeList = Named('NoticeList', {
  notices: Type.Array(ref(Notice)),
  incomplete: Type.Optional(
    Type.Literal(true, {
      description: 'Present if a kind of notice took too long to find. The others are there.',
    }),
  ),
})
