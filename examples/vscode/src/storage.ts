/** Where minutes wait until the service has them: in a folder that all windows share. */
import { folderStorage } from '@team-settings/client/node'
export const storageAt = ({ fsPath }: { fsPath: string }) => folderStorage(fsPath)
