/** Tells people that an organization has made them a member, and lets them leave. */
import { useState } from 'preact/hooks'
import { rememberStay } from './home.js'
import type { Workspace } from './me.js'
import { start } from './start.js'

export const JoinedByOrganization = ({ workspace }: { workspace: Workspace }) => {
  const { id, name, organization } = workspace
  const [stays, stay] = useState(false)
  if (stays) return null
  return (
    <div class="note row apart" role="status">
      <span>
        You are a member of <bdi>{name}</bdi> because you belong to{' '}
        {organization === null ? 'its organization' : <bdi>{organization}</bdi>} at {start.repohost_name}.
        Activity up to the day you joined doesn’t count here.
      </span>
      <span class="row">
        <a class="button" href={`/w/${id}/people?new=leave`}>
          Leave
        </a>
        <button
          type="button"
          onClick={() => {
            rememberStay(id)
            stay(true)
          }}
        >
          Stay
        </button>
      </span>
    </div>
  )
}
