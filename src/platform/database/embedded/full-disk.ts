import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from '../../process/operator-error.js'

/** File systems without a size report 0 blocks. A failure here must not hide the one to explain. */
const isFull = (path: string): Promise<boolean> =>
  statfs(path).then(
    ({ blocks, bavail }) => blocks > 0 && bavail === 0,
    () => false,
  )

/**
 * The error of a database program. It begins with one sentence if a full disk explains it.
 * @param said what the program printed, which is nothing where its log is on the same disk
 */
export const explainFailure = async (
  cluster: string,
  what: string,
  said: string,
  cause: unknown,
): Promise<OperatorError> => {
  const isExplained = said.includes('No space left on device') || (await isFull(dirname(cluster)))
  const full = `The disk of ${cluster} is full: free space on it, then start again.`
  const text = isExplained ? `${full}${said && `\nDetails:\n${said}`}` : `${what}${said}`
  return new OperatorError(text, { cause })
}
