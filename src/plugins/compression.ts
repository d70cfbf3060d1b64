/** Answers of a kilobyte and more are compressed where the client accepts it. */
import { constants } from 'node:zlib'
import compress from '@fastify/compress'
import fp from 'fastify-plugin'

/** What the client sent is beside a secret there, and the length of the two compressed together would give it away. */
const SECRETS = '/api/auth/'

export default fp(async (app) => {
  // Before the library's own, which looks at it.
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith(SECRETS)) route.compress = false
  })
  await app.register(compress, {
    encodings: ['br', 'gzip'],
    threshold: 1_024,
    brotliOptions: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        // A window of 256 KiB: hardly any answer is larger, and each takes that much memory.
        [constants.BROTLI_PARAM_LGWIN]: 18,
      },
    },
    // Bodies come as they are.
    globalDecompression: false,
  })
})
