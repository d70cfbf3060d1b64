import { date, index, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { limits } from '../../../schemas/limits.js'
import { daysAgo } from '../../platform/database/limited-delete.js'
import { table } from '../../platform/database/table.js'

/**
 * Repositories that a person has pushed settings for, or has named in full in a flush or a heartbeat. A folder name can
 * stand for one of these only.
 */
export const personRepos = table(
  'person_repos',
  {
    userId: uuid('user_id').notNull(),
    /** `owner/repo` in lower case. */
    repoKey: text('repo_key').notNull(),
    /** The part after the last slash. */
    name: text('name').notNull(),
    /** As first given. */
    repo: text('repo').notNull(),
    /** The last UTC day the person named it. */
    seenDay: date('seen_day').notNull(),
  },
  {
    people: { userId: { erasure: 'delete', export: 'repositories' } },
    expiry: {
      task: 'old repositories of people',
      sql: `seen_day < (${daysAgo(limits.person_repo_days)})::date`,
    },
    place: { spreadBy: 'user_id' },
    routedBy: 'their person',
    privacyRecord: 'project names',
    label: 'repositories named in full',
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.repoKey] }),
    index('person_repos_by_name').on(t.userId, t.name),
    index('person_repos_by_age').on(t.seenDay),
  ],
)
