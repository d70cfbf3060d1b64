import { requiredNode } from './root.js'

/** The last day on which each line of Node gets security fixes (https://nodejs.org/en/about/previous-releases). */
const SUPPORTED_UNTIL: Record<number, string> = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
}
const NEWEST_SUPPORTED = Math.max(...Object.keys(SUPPORTED_UNTIL).map(Number))

/** Explains why a version of Node (`20.19.0`) gets no security fixes. Undefined if it still does. */
export const unsupportedNode = (version: string, now = new Date()): string | undefined => {
  const line = Number(version.split('.')[0])
  const until = SUPPORTED_UNTIL[line]
  if (line > NEWEST_SUPPORTED || (until !== undefined && now.toISOString().slice(0, 10) <= until))
    return undefined
  return until === undefined
    ? `Node ${line} gets no security fixes.`
    : `Node ${line} has had no security fixes since ${until}.`
}

/** The message for a Node that's too old to run the service. */
export const tooOldNode = (running: string): string | undefined => {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  const [oldest = 0, minorOfOldest = 0] = requiredNode.split('.').map(Number)
  if (major > oldest || (major === oldest && minor >= minorOfOldest)) return undefined
  return `This is Node ${running}, but the service needs ${requiredNode} or newer.`
}

/** The LTS line in the image and the Debian package. Newer lines need a library that small systems lack. */
export const RECOMMENDED_NODE = 24

export const upgradeNode = `Upgrade to Node ${RECOMMENDED_NODE}.`
