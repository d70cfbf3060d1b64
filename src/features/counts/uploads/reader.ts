/** Parses each large body in its own thread, which blocks no request and frees its memory at its end. */
import { Worker } from 'node:worker_threads'
import { ApiError } from '../../../errors.js'
import { StrictJsonError } from '../../../platform/http/strict-json.js'
import { Semaphore } from '../../../platform/process/semaphore.js'

/** Bodies that wait to be read. */
const WAITING = 8
const WAIT_MS = 10_000
/** The largest body takes about a second, on a busy machine several. */
const READ_MS = 15_000

/** The answer of a thread. */
export type WorkerAnswer<Read> = Read | { rejected: string }

/** Takes the bytes away from this thread. Settles when the thread has ended. */
const readBeside = <Answer>(
  file: URL,
  bytes: Buffer<ArrayBuffer>,
  context: object,
  signal: AbortSignal,
  readMs: number,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const worker = new Worker(file, {
      workerData: { ...context, bytes },
      transferList: [bytes.buffer],
      // Several times what a checked body needs. It must never be reached, because V8 would end the whole process.
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
    let answer: Answer | undefined
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
    worker.once('message', (message: Answer) => {
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

/**
 * @param file the program of the threads, which gets the bytes and the context as `workerData`
 * @param atOnce how many bodies are read at once
 */
export const createReader = <Read extends object, Context extends object>(
  file: URL,
  atOnce: number,
  { readMs = READ_MS } = {},
) => {
  const readers = new Semaphore(atOnce, WAITING, WAIT_MS, () => new ApiError('unavailable'))
  /**
   * @param signal ends the reading
   * @throws {StrictJsonError} for what is not JSON, {ApiError} `unavailable` when it takes too long
   */
  return async (bytes: Buffer<ArrayBuffer>, context: Context, signal: AbortSignal): Promise<Read> => {
    const answer = await readers.run(() =>
      readBeside<WorkerAnswer<Read>>(file, bytes, context, signal, readMs),
    )
    if ('rejected' in answer) throw new StrictJsonError(answer.rejected)
    return answer as Read
  }
}
