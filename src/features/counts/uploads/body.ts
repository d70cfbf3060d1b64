/**
 * How bodies of `/commits` and `/closed-issues` are read. They may have 24 MiB, and reading so much at once would keep
 * other callers waiting: a large body needs a permit of its caller, and is parsed in a separate thread.
 *
 * Fastify expects a parser to return the body, then a validator to check it, then the access check to find the workspace in it.
 * A large body never exists as an object on this thread. `LargeCounts` stands for it in these three steps.
 */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { CountsBody } from '../../../../schemas/activity.js'
import { limits } from '../../../../schemas/limits.js'
import { tooMany } from '../../../errors.js'
import { IncomingBody } from '../../../platform/http/incoming-body.js'
import { parseBody } from '../../../platform/http/json-body.js'
import { withMemory } from '../../../platform/process/request-memory.js'
import { KeyedSemaphore } from '../../../platform/process/semaphore.js'
import { type CountBatches, toCountBatches } from '../count-batches.js'
import { type CountsRead, createCountsReader } from './counts-reader.js'
import { untilHangUp } from './hang-up.js'
import { limitOpeners } from './openers.js'

/** Smaller bodies cost less than a thread. */
const LARGE_BYTES = 131_072
/** What a body needs, in times of its size, measured with `bench/memory`. */
const MEMORY_FACTOR = 4
/** Large bodies of one caller in memory. The others have arrived in part, and wait. */
const MAX_UPLOADS_OF_CALLER = 1
const WAITING_OF_CALLER = 16
const WAIT_MS = 5_000

/** Stands for a body that was read elsewhere. */
class LargeCounts {
  constructor(private readonly read: CountsRead) {}

  /** The workspace for `config.access`, which reads it from the body. */
  get workspace() {
    return 'batches' in this.read ? this.read.batches.workspace : ''
  }

  get errors() {
    return 'invalid' in this.read ? this.read.invalid : null
  }

  get batches() {
    if ('invalid' in this.read) throw new Error('An invalid body does not get this far')
    return this.read.batches
  }
}

/** The counts of a request that has passed validation. */
export const countsOf = (body: CountsBody | LargeCounts): CountBatches =>
  body instanceof LargeCounts ? body.batches : toCountBatches(body)

/** Registers the parser in the scope of the two routes. */
export const readLargeCounts = (
  app: FastifyInstance,
): { validatorCompiler: FastifySchemaCompiler<object> } => {
  const {
    settingsKeys,
    rateLimits,
    repohost: { kind },
  } = app.config
  const read = createCountsReader()
  const tooManyUploads = () =>
    tooMany('large_uploads', MAX_UPLOADS_OF_CALLER, WAIT_MS / 1_000, 'Send large bodies one after the other.')
  const uploadsOfCaller = new KeyedSemaphore(
    MAX_UPLOADS_OF_CALLER,
    WAITING_OF_CALLER,
    WAIT_MS,
    tooManyUploads,
  )
  const inTurn = <T>(request: FastifyRequest, bytes: number, work: () => Promise<T>): Promise<T> => {
    const runUpload = () => withMemory(bytes, MEMORY_FACTOR, work, Date.now() + WAIT_MS)
    return rateLimits ? uploadsOfCaller.run(request.memberId, runUpload) : runUpload()
  }

  const parse = async (request: FastifyRequest, payload: Readable) => {
    const incoming = new IncomingBody(
      payload,
      request.headers['content-length'],
      limits.counts_body_bytes,
      limitOpeners(),
    )
    try {
      if (await incoming.receive(LARGE_BYTES)) {
        // An empty body counts as absent.
        return incoming.bytes.length === 0 ? undefined : parseBody(incoming.bytes)
      }
      return await inTurn(request, incoming.expectedBytes, async () => {
        await incoming.receive()
        return new LargeCounts(
          await untilHangUp(request, (signal) => read(incoming.bytes, { keys: settingsKeys, kind }, signal)),
        )
      })
    } finally {
      await incoming.leave()
    }
  }
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', parse)

  return {
    validatorCompiler: (part) => {
      const ordinary = app.validatorCompiler?.(part)
      if (!ordinary) throw new Error('The app has a validator before it has routes')
      if (part.httpPart !== 'body') return ordinary
      const validate: ReturnType<FastifySchemaCompiler<object>> = (body: unknown) => {
        const ok = body instanceof LargeCounts ? body.errors === null : ordinary(body)
        validate.errors = body instanceof LargeCounts ? body.errors : ordinary.errors
        return ok as boolean
      }
      return validate
    },
  }
}
