/** The status bar's text: today's minutes, whether they count and where, and what a click does. */

export interface Facts {
  signedIn: boolean
  /** The session was ended elsewhere. */
  revoked: boolean
  paused: boolean
  /** The queue's state: `waiting` for the service, for example. */
  queue: string
  today: number
  /** The repository in which the person works. */
  repo: string | undefined
  /** The name of its workspace. Null: there is none. Undefined: the service hasn't said yet. */
  workspace: string | null | undefined
}

export interface Status {
  text: string
  tooltip: string
  /** A command of this extension. */
  command: 'signIn' | 'togglePause' | undefined
}

export const statusOf = ({ signedIn, revoked, paused, queue, today, repo, workspace }: Facts): Status => {
  const nothing = (why: string, command?: Status['command'], click = ''): Status => ({
    text: '$(debug-pause) not recorded',
    tooltip: `Nothing is recorded. ${why}${click && ` Click to ${click}.`}`,
    command,
  })
  if (!signedIn) return nothing('You aren’t signed in.', 'signIn', 'sign in')
  if (paused) return nothing('You have paused it.', 'togglePause', 'resume')
  if (queue === 'recording_off')
    return nothing('You have turned recording off under Privacy in the dashboard.')
  if (repo === undefined) return nothing('Open a folder of a repository with a remote.')
  if (workspace === null) return nothing(`${repo} is in none of your workspaces.`, 'togglePause', 'pause')
  const isOut = revoked || queue === 'signed_out'
  const where =
    workspace === undefined
      ? 'The service hasn’t said yet whether they count.'
      : `Minutes in ${repo} count in ${workspace}.`
  const waits = isOut ? ', signed out' : queue === 'waiting' ? ', waiting for the service' : ''
  return {
    text: `$(record) ${today} min${waits}`,
    tooltip: `${today} active minutes today in this editor. ${where} Recorded: the repository, the hour and the number of minutes, and nothing else. Click to ${isOut ? 'sign in' : 'pause'}.`,
    command: isOut ? 'signIn' : 'togglePause',
  }
}
