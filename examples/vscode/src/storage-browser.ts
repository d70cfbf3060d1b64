/** The same in a browser, where the databases of all extensions are in one place. */
import { indexedDbStorage } from '@team-settings/client/browser'
export const storageAt = (place: { toString(): string }) => indexedDbStorage(place.toString())
