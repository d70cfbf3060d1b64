/** The same in a browser, where the databases of all extensions are in one place. */
import { indexedDbStorage } from '../../client/src/browser.js'
export const storageAt = (place: { toString(): string }) => indexedDbStorage(place.toString())
