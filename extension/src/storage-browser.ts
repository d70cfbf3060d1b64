/** Replaces `storage.ts` in a browser, where all extensions' databases are in one place. */
import { indexedDbStorage } from '../../client/src/browser.js'
export const storageAt = (place: { toString(): string }) => indexedDbStorage(place.toString())
