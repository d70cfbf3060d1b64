/** Users of the system. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A user's name, or the number if the user has no name. */
export const nameOfUser = async (uid: number): Promise<string> => {
  try {
    return (await run('id', ['-nu', '--', String(uid)])).stdout.trim()
  } catch {
    return String(uid)
  }
}
