import { addDays, fullDay, mondayOf } from './format.js'
import { start } from './start.js'

/**
 * After a change to the level `named`, names start with a week that hasn't begun in any time zone yet. @param changedAt
 * in UTC
 */
export const namesSince = (changedAt: string): string =>
  addDays(mondayOf(addDays(changedAt.slice(0, 10), 1)), 7)

/** A sentence about the day from which admins see names. Empty if the level never changed. */
export const sinceText = (workspace: {
  activity_privacy: string
  activity_privacy_since: string
  created_at: string
}): string =>
  workspace.activity_privacy === 'named' && workspace.activity_privacy_since > workspace.created_at
    ? `Days before ${fullDay(namesSince(workspace.activity_privacy_since))} stay hidden.`
    : ''

/** What a level means for so many people. */
export const smallTeamText = (level: string, members: number): string =>
  level === 'team' && members < start.activity_min_group
    ? ` A team of ${members === 1 ? 'one' : members} sees no team numbers at this level.`
    : ''

/** The people who see each person’s numbers, in short. */
export const levelNames = { named: 'Visible to admins', team: 'Private to each person' } as const

/** Explains who sees whose numbers at each privacy level, in the same words wherever people read it. */
export const consent = {
  named:
    'Admins see each member’s daily numbers by name, and members see the day when someone was last active. Admins don’t see anyone’s hours, but can tell that each person worked in an hour in which nearly everyone did. Totals update live, so frequent checks can show when someone works. At the level “Private to each person”, they can’t.',
  team: `No one sees another person’s numbers or hours. Admins see the team’s numbers only for whole weeks in which at least ${start.activity_min_group} people were active. People who share their numbers with each other, or an admin of two workspaces with the same people, could infer more.`,
} as const
