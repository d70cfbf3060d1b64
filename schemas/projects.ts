import { type Static, Type } from '@sinclair/typebox'
import { Named, NextCursor, Nullable, Owner, Repo, Role, Timestamp, Uuid } from './common.js'

export const ProjectPage = Named('ProjectPage', {
  projects: Type.Array(
    Named('Project', {
      owner: Owner,
      repo: Repo,
      workspace_id: Uuid,
      workspace_name: Type.String({ examples: ['Acme'] }),
      role: Role,
      synced: Type.Boolean({
        description: 'Whether the repository has settings in this workspace.',
        examples: [true],
      }),
      has_override: Type.Boolean({ examples: [false] }),
      has_activity: Type.Boolean({
        description:
          'Whether the caller (for admins: anyone) has activity there, as far as the privacy level shows it. An access key needs `activity:read` for the former and `dashboard:read` for the latter.',
        examples: [true],
      }),
      version: Nullable(Type.Integer({ examples: [3] })),
      updated_at: Nullable(Timestamp),
    }),
  ),
  next_cursor: NextCursor,
})
export type ProjectPage = Static<typeof ProjectPage>
