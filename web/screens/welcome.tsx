import { missingScope } from '../api.js'
import { FirstSteps } from '../first-steps.js'
import { useMe } from '../me.js'
import { start } from '../start.js'
import { useTitle } from '../title.js'
import { CreateWorkspace, JoinWorkspace } from './workspaces.js'

/** The first screen for a person without a workspace. */
export const Welcome = () => {
  const { login } = useMe()
  useTitle('Welcome')
  return (
    <div class="stack narrow">
      <h1>Welcome</h1>
      <p>
        A workspace is a team and its repositories. It records the minutes that editors are in use there, and
        gives every editor the same settings. Create a workspace, or join one with an invite.
      </p>
      {missingScope.value !== undefined && (
        <p class="note">
          {start.repohost_name} didn’t say which organizations you belong to. If your team’s workspace takes
          in their members, sign in with a token that has the scope{' '}
          <span class="mono">{missingScope.value}</span>.
        </p>
      )}
      <JoinWorkspace />
      <FirstSteps workspace={undefined}>
        <CreateWorkspace login={login} isStep />
      </FirstSteps>
    </div>
  )
}
