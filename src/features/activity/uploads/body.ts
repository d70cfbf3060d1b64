/**
 * How bodies of `/commits` and `/closed-issues` are read. They may have 24 MiB, and reading so much at once would keep
 * everybody else waiting: a large one is let in when it is its caller's turn, and read in a thread of its own.
 */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import type { CountsBody } from '../../../../schemas/activity.js'
import { ApiError, tooMany } from '../../../errors.js'
import { parseBody } from '../../../platform/http/json-body.js'
import { Gate, Gates } from '../../../platform/process/gate.js'
import { type CountBatches, toCountBatches } from '../count-batches.js'
import { IncomingBody } from './incoming.js'
import { type CountsRead, createCountsReader } from './reader.js'

/** Smaller bodies cost less than a thread. */
const LARGE_BYTES = 131_072
/** Large bodies in memory: of all callers, and of each. The others have arrived in part, and wait. */
const PLACES = 8
const PLACES_OF_CALLER = 1
const WAITING = 64
const WAITING_OF_CALLER = 16
const WAIT_MS = 5_000

/** Stands for a body that was read elsewhere. */
class LargeCounts {
  constructor(private readonly read: CountsRead) {}

  /** For `config.access`, which looks for the workspace in the body. */
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

/** `request.signal` says no more than that the body has ended. */
const untilHangUp = async <T>({ socket }: FastifyRequest, work: (signal: AbortSignal) => Promise<T>) => {
  const gone = new AbortController()
  const hangUp = () => gone.abort(new ApiError('bad_request', { detail: 'The connection was closed.' }))
  socket.once('close', hangUp)
  if (socket.destroyed) hangUp()
  try {
    return await work(gone.signal)
  } finally {
    socket.removeListener('close', hangUp)
  }
}

/** For the scope of the two routes. */
export const readLargeCounts = (
  app: FastifyInstance,
): { validatorCompiler: FastifySchemaCompiler<object> } => {
  const { extensionPrefix, rateLimits } = app.config
  const read = createCountsReader(extensionPrefix)
  const places = new Gate(PLACES, WAITING, WAIT_MS, () => new ApiError('unavailable'))
  const refuse = () =>
    tooMany('large_uploads', PLACES_OF_CALLER, WAIT_MS / 1_000, 'Send one large body after the other.')
  const placesOfCallers = new Gates(() => new Gate(PLACES_OF_CALLER, WAITING_OF_CALLER, WAIT_MS, refuse))
  const inTurn = <T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> => {
    const inPlace = () => places.run(work)
    return rateLimits ? placesOfCallers.run(request.caller.userId, inPlace) : inPlace()
  }

  const parse = async (request: FastifyRequest, payload: Readable) => {
    const incoming = new IncomingBody(payload, request.headers['content-length'])
    try {
      if (await incoming.receive(LARGE_BYTES)) {
        // An empty body counts as absent.
        return incoming.bytes.length === 0 ? undefined : parseBody(incoming.bytes)
      }
      return await inTurn(request, async () => {
        await incoming.receive()
        return new LargeCounts(await untilHangUp(request, (signal) => read(incoming.bytes, signal)))
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
