import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from '../../process/operator-error.js'

/**
 * The failure of a program of the database, in one sentence if a full disk explains it.
 * @param said what the program printed, which is nothing where its log is on the same disk
 */
export const explainFailure = async (cluster: string, what: string, said: string): Promise<OperatorError> => {
  const { bavail } = await statfs(dirname(cluster))
  return new OperatorError(
    bavail === 0 || said.includes('No space left on device')
      ? `The disk of ${cluster} is full: free space on it, then start again.`
      : `${what}${said}`,
  )
}
