/** Compresses responses of a kilobyte or more for clients that accept it. */
import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import fp from 'fastify-plugin'

/** These responses contain a secret next to the client's input, so their compressed length would give it away. */
const SECRETS = '/api/auth/'

export default fp(async (app) => {
  // Registered before the library's own hook, which reads it.
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(SECRETS)) route.compress = false
  })
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    threshold: 1_024,
    brotliOptions: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        // A 256 KiB window. Each compressed response needs that much memory, and few responses are larger.
        [constants.BROTLI_PARAM_LGWIN]: 18,
      },
    },
    // Request bodies are never compressed.
    globalDecompression: false,
  })
})
