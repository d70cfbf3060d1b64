/** Users of the system. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Its name, or its number if it has none. */
export const nameOfUser = async (uid: number): Promise<string> => {
  try {
    return (await run('id', ['-nu', '--', String(uid)])).stdout.trim()
  } catch {
    return String(uid)
  }
}
