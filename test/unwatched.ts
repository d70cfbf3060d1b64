/**
 * Keeps tap from watching every promise, which takes a tenth of a file's time. It does so to say in which test an error
 * was that nobody caught; without, such an error fails the file.
 */
import hooks, { type AsyncHook } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const none: AsyncHook = { enable: () => none, disable: () => none }
hooks.createHook = () => none
syncBuiltinESMExports()
