/**
 * `app.following`: what sign-ins, pushes and deliveries say about memberships, for features that don't know workspaces.
 */
import fp from 'fastify-plugin'
import { hostKinds } from '../../platform/hosts/index.js'
import type { ReportedLeave } from '../../platform/hosts/kind.js'
import { type MembershipAnswers, type Memberships, personKeysOf, type User } from '../accounts/index.js'
import {
  type FollowContext,
  followAtSignIn,
  handleLeaveReport,
  type PushCheck,
  type ReportMarks,
  readPushCheck,
  syncMembershipOnPush,
} from './follow-organization.js'
import type { Followed } from './queries/organizations.js'

declare module 'fastify' {
  interface FastifyInstance {
    following: {
      atSignIn(user: User, memberships: Memberships): Promise<void>
      /** Read it before the host is asked. */
      readPushCheck(user: User): Promise<PushCheck>
      atPush(user: User, followed: Followed[], answers: MembershipAnswers): Promise<void>
      atReport(workspaceId: string, left: ReportedLeave, marks: ReportMarks): Promise<void>
    }
  }
}

export default fp(
  async (app) => {
    const { config, database } = app
    const context: FollowContext = {
      database,
      personKeys: personKeysOf(config.jwtSecrets),
      limits: config.limits,
      hostName: hostKinds[config.repohost.kind].name,
      forgetKeys: (ended) => app.sessions.accessKeys.forget(({ workspaceId }) => workspaceId === ended),
    }
    app.decorate('following', {
      atSignIn: (user, memberships) => followAtSignIn(context, user, memberships),
      readPushCheck: (user) => readPushCheck(database.write, user.id),
      atPush: (user, followed, answers) => syncMembershipOnPush(context, user, followed, answers),
      atReport: (workspaceId, left, marks) => handleLeaveReport(context, workspaceId, left, marks),
    })
  },
  { name: 'following', dependencies: ['session'] },
)
