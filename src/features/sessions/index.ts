/** Sessions, for other features. */
export { revokeAllTokens, revokeToken } from './queries/sessions.js'
export { cookieOptionsOf, sessionCookiesOf } from './session.js'
export { secretsFault } from './signing-keys.js'
export { bearerOf, editorTokenOf, isKeySecret } from './tokens.js'
