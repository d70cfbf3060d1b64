/** Says what is recorded, and why nothing is. */
import type * as vscode from 'vscode'
import type { Minutes } from './minutes.js'
import { PREFIX } from './names.js'

const WAITS: Record<string, string> = { waiting: ', waiting for the service', signed_out: ', signed out' }

export const show = (item: vscode.StatusBarItem, minutes: Minutes, isSignedIn: boolean, repos: string[]) => {
  const { state, recorded, isPaused } = minutes
  const why =
    (!isSignedIn && 'You are not signed in.') ||
    (isPaused && 'You have paused it.') ||
    (state === 'recording_off' && 'You have turned recording off under Privacy in the dashboard.') ||
    (repos.length === 0 && 'Open a folder of a repository with a remote.')
  const click = !isSignedIn || state === 'signed_out' ? 'sign in' : isPaused ? 'resume' : why ? '' : 'pause'
  const names = new Intl.ListFormat('en').format(new Set(repos))
  const what = `Recorded since the start: the number of active minutes in ${names} by the hour, and nothing else. They are kept here until the service has them.`
  item.text = why ? '$(debug-pause) not recorded' : `$(record) ${recorded} min${WAITS[state] ?? ''}`
  item.tooltip = `${why ? `Nothing is recorded. ${why}` : what}${click && ` Click to ${click}.`}`
  item.command = click ? PREFIX + (click === 'sign in' ? 'signIn' : 'togglePause') : undefined
  item.show()
}
