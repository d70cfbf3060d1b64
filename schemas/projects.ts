import { type Static, Type } from '@sinclair/typebox'
import { Named, NextCursor, Nullable, Owner, Repo, Role, Timestamp, Uuid } from './common.js'

export const ProjectPage = Named('ProjectPage', {
  projects: Type.Array(
    Named('Project', {
      owner: Owner,
      repo: Repo,
      workspace_id: Uuid,
      workspace_name: Type.String(),
      role: Role,
      synced: Type.Boolean({ description: 'Whether settings were pushed.' }),
      has_override: Type.Boolean(),
      version: Nullable(Type.Integer()),
      updated_at: Nullable(Timestamp),
    }),
  ),
  next_cursor: NextCursor,
})
export type ProjectPage = Static<typeof ProjectPage>
