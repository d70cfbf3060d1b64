import type { FastifyInstance } from 'fastify'
import type { VerifyResult } from '../../../schemas/auth.js'
import { ApiError } from '../../errors.js'
import { type HostCall, readTokenUser } from '../../platform/hosts/repohost.js'
import { addressKeysOf, recognizePerson } from '../accounts/index.js'
import { followAtSignIn } from '../workspaces/index.js'

/** Tokens of the service's own OAuth app are always accepted; the list is about other apps. */
interface SignIn {
  call: HostCall
  allowedClientIds: string[] | undefined
}

/**
 * Creates a session for the person to whom a token belongs, according to the repository host. Memberships that follow the
 * host are updated first.
 * @throws {ApiError} `repohost_token_invalid`, also for tokens of an OAuth app that isn't on the allow-list,
 * `account_disabled`, `upstream_failed`, `upstream_timeout`
 */
export const signIn = async (
  app: Pick<FastifyInstance, 'clients' | 'config' | 'database' | 'milestones' | 'sessions'>,
  { call, allowedClientIds }: SignIn,
): Promise<VerifyResult> => {
  const { clients, config, database, milestones, sessions } = app
  const host = clients.repohost
  const person = await readTokenUser(host, call)
  const { clientId } = person
  if (allowedClientIds && clientId !== undefined && !allowedClientIds.includes(clientId)) {
    throw new ApiError('repohost_token_invalid', {
      detail: 'Tokens of this OAuth app aren’t accepted here.',
    })
  }
  const user = await recognizePerson(database, addressKeysOf(config.jwtSecrets), person)
  milestones.reached(user.id, 'signed_in')
  const missingScope = await followAtSignIn(app, user, { host, call, person })
  return {
    token: sessions.tokens.issue(user),
    login: user.login,
    avatar_url: user.avatarUrl,
    ...(missingScope !== undefined && { missing_scope: missingScope }),
  }
}
