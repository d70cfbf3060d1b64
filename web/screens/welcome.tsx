import { useTitle } from '../title.js'
import { CreateWorkspace, JoinWorkspace } from './workspaces.js'

/** The first screen of a person without a workspace. */
export const Welcome = () => {
  useTitle('Welcome')
  return (
    <div class="stack narrow">
      <h1>Welcome</h1>
      <p>
        A workspace records active minutes in the repositories of a team. Create one, or join one with an
        invite code.
      </p>
      <CreateWorkspace />
      <JoinWorkspace />
    </div>
  )
}
