/**
 * Ends a program on a Node that is too old, in one sentence. It's the first import of every program, because modules run
 * in the order of their imports. Node links all of them first, so no import may name anything that an older Node doesn't
 * export.
 */
import { tooOldNode } from './node-support.js'

const tooOld = tooOldNode(process.versions.node)
if (tooOld !== undefined) {
  process.stderr.write(`${tooOld} Install a newer Node.\n`)
  process.exit(1)
}
