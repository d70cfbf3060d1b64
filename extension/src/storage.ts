/** Where minutes wait until the service has them: in a folder that all windows share. */
import { folderStorage } from '../../client/src/node.js'
export const storageAt = ({ fsPath }: { fsPath: string }) => folderStorage(fsPath)
