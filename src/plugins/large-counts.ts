/**
 * How bodies of `/commits` and `/closed-issues` are read. They may have 24 MiB, and reading so much at once would keep
 * everybody else waiting; a large one is read in a thread of its own, which ends with it and leaves no memory behind.
 */
import { Worker } from 'node:worker_threads'
import type { ErrorObject } from 'ajv'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import type { CountsBody } from '../../schemas/activity.js'
import { limits } from '../../schemas/limits.js'
import { type CountBatches, toCountBatches } from '../domain/count-batches.js'
import { StrictJsonError } from '../domain/strict-json.js'
import { ApiError } from '../errors.js'
import { Gate } from '../gate.js'
import { parseBody } from '../validation.js'

/** Smaller bodies cost less than a thread. */
const LARGE_BYTES = 131_072
/** Large bodies that are read at once, and that wait for it. */
const READERS = 2
const WAITING = 8
const WAIT_MS = 10_000

type Answer = { batches: CountBatches } | { invalid: ErrorObject[] } | { refused: string }

/** Stands for a body that was read elsewhere. */
class LargeCounts {
  constructor(private readonly answer: Exclude<Answer, { refused: string }>) {}

  /** For `config.access`, which looks for the workspace in the body. */
  get workspace() {
    return 'batches' in this.answer ? this.answer.batches.workspace : ''
  }

  get errors() {
    return 'invalid' in this.answer ? this.answer.invalid : null
  }

  get batches() {
    if ('invalid' in this.answer) throw new Error('An invalid body does not get this far')
    return this.answer.batches
  }
}

/** The counts of a request that has passed validation. */
export const countsOf = (body: CountsBody | LargeCounts): CountBatches =>
  body instanceof LargeCounts ? body.batches : toCountBatches(body)

/** Takes the bytes away from this thread. */
const readBeside = (bytes: Buffer<ArrayBuffer>, extensionPrefix: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../workers/read-counts.js', import.meta.url), {
      workerData: { bytes, extensionPrefix },
      transferList: [bytes.buffer],
      // A body that is not counts at all can be much larger parsed than sent; it must not take the service along.
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The reader has ended without an answer')))
  })

/** For the scope of the two routes. */
export const readLargeCounts = (
  app: FastifyInstance,
): { validatorCompiler: FastifySchemaCompiler<object> } => {
  const { extensionPrefix } = app.config
  const readers = new Gate(READERS, WAITING, WAIT_MS, () => new ApiError('unavailable'))
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: limits.counts_body_bytes },
    async (_request: unknown, bytes: Buffer<ArrayBuffer>) => {
      if (bytes.length === 0) return undefined
      if (bytes.length < LARGE_BYTES) return parseBody(bytes)
      const answer = await readers.run(() => readBeside(bytes, extensionPrefix))
      if ('refused' in answer) throw new StrictJsonError(answer.refused)
      return new LargeCounts(answer)
    },
  )

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
