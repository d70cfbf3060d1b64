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
  /** Whether the repository is known to be the team's. */
  isTeams: boolean
  host: string
  /** How to install the version of the extension that the service has, if it's newer. */
  news: string | undefined
  /** What waits for the person: an answer, for example. */
  waiting: string | undefined
  /** Files that can't be read or written. */
  problems: string[]
}

export interface Status {
  text: string
  tooltip: string
  /** A command of this extension. */
  command: 'signIn' | 'togglePause' | 'review' | undefined
}

export const newsOf = (version: string, baseUrl: string): string =>
  `The service has version ${version} of this extension: run curl -fLO ${baseUrl}/api/extension.vsix, then code --install-extension extension.vsix.`

export const statusOf = (facts: Facts): Status => {
  const status = recordingOf(facts)
  const { news, problems, waiting } = facts
  const waits = status.command === 'signIn' ? undefined : waiting
  const first = waits === undefined ? [] : [`${waits}. Click to see ${/^1 /.test(waits) ? 'it' : 'them'}.`]
  const own = waits === undefined ? status.tooltip : status.tooltip.replace(/ Click to [^.]*\.$/, '')
  return {
    text: waits === undefined ? status.text : `${status.text}, ${waits}`,
    tooltip: [...first, own, ...problems, ...(news === undefined ? [] : [news])].join(' '),
    command: waits === undefined ? status.command : 'review',
  }
}

const recordingOf = (facts: Facts): Status => {
  const { signedIn, revoked, paused, queue, today, repo, workspace, isTeams, host } = facts
  const nothing = (why: string, command?: Status['command'], click = ''): Status => ({
    text: '$(debug-pause) not recorded',
    tooltip: `Nothing is recorded. ${why}${click && ` Click to ${click}.`}`,
    command,
  })
  if (!signedIn) return nothing('You aren’t signed in.', 'signIn', 'sign in')
  if (paused) return nothing('You have paused it.', 'togglePause', 'resume')
  if (queue === 'recording_off')
    return nothing('You have turned recording off under Privacy in the dashboard.')
  if (repo === undefined) return nothing(`No open folder is of a repository with a remote at ${host}.`)
  if (workspace === null) return nothing(`${repo} is in none of your workspaces.`, 'togglePause', 'pause')
  if (workspace === undefined && !isTeams)
    return nothing('The service hasn’t said yet which repositories count.', 'togglePause', 'pause')
  const isSignedOut = revoked || queue === 'signed_out'
  const where =
    workspace === undefined
      ? 'The service hasn’t said yet whether they count.'
      : `Minutes in ${repo} count in ${workspace}.`
  const waits = isSignedOut ? ', signed out' : queue === 'waiting' ? ', waiting for the service' : ''
  return {
    text: `$(record) ${today} min${waits}`,
    tooltip: `${today} active minutes today in this editor. ${where} Recorded: the repository, the hour and the number of minutes, and nothing else. Click to ${isSignedOut ? 'sign in' : 'pause'}.`,
    command: isSignedOut ? 'signIn' : 'togglePause',
  }
}
