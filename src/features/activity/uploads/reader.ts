/** Reads large bodies of counts beside the event loop, each in a thread of its own, which leaves no memory behind. */
import { Worker } from 'node:worker_threads'
import type { ErrorObject } from 'ajv'
import { ApiError } from '../../../errors.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { Gate } from '../../../platform/process/gate.js'
import type { CountBatches } from '../count-batches.js'

/** Bodies that are read at once, and that wait for it. */
const READERS = 2
const WAITING = 8
const WAIT_MS = 10_000
/** The largest body takes about a second, on a busy machine several. */
const READ_MS = 15_000

export type CountsRead = { batches: CountBatches } | { invalid: ErrorObject[] }
/** What a thread answers. */
export type WorkerAnswer = CountsRead | { refused: string }

/** Takes the bytes away from this thread. Settles when the thread has ended. */
const readBeside = (
  bytes: Buffer<ArrayBuffer>,
  extensionPrefix: string,
  signal: AbortSignal,
  readMs: number,
): Promise<WorkerAnswer> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { bytes, extensionPrefix },
      transferList: [bytes.buffer],
      // Several times what a body needs that has come this far. It must never be met: V8 would end the whole process.
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    let answer: WorkerAnswer | undefined
    let failure: unknown = new Error('The reader has ended without an answer')
    const giveUp = (reason: unknown) => {
      failure = reason
      void worker.terminate()
    }
    const hangUp = () => giveUp(signal.reason)
    const timer = setTimeout(
      () => giveUp(new ApiError('unavailable', { detail: 'The body could not be read in time.' })),
      readMs,
    )
    signal.addEventListener('abort', hangUp)
    worker.once('message', (message: WorkerAnswer) => {
      answer = message
    })
    worker.once('error', (error) => {
      failure = error
    })
    worker.once('exit', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', hangUp)
      if (answer) resolve(answer)
      else reject(failure)
    })
  })

export const createCountsReader = (extensionPrefix: string, { readMs = READ_MS } = {}) => {
  const readers = new Gate(READERS, WAITING, WAIT_MS, () => new ApiError('unavailable'))
  /**
   * @param signal ends the reading
   * @throws {StrictJsonError} for what is not JSON, {ApiError} `unavailable` when it takes too long
   */
  return async (bytes: Buffer<ArrayBuffer>, signal: AbortSignal): Promise<CountsRead> => {
    const answer = await readers.run(() => readBeside(bytes, extensionPrefix, signal, readMs))
    if ('refused' in answer) throw new StrictJsonError(answer.refused)
    return answer
  }
}
