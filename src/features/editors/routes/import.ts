/** Routes for heartbeat imports. */
import { once } from 'node:events'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Ok, ref } from '../../../../schemas/common.js'
import { EditorParams, Import } from '../../../../schemas/editors.js'
import { limits } from '../../../../schemas/limits.js'
import { ApiError } from '../../../errors.js'
import { disableAllBodyParsing, requireTimelyBody } from '../../../platform/http/own-body.js'
import type { Job } from '../../../platform/process/async.js'
import { Semaphore } from '../../../platform/process/semaphore.js'
import { readingEditor, writingEditor } from '../access.js'
import { cancelImport, describeImport, requireNoImport, startImport } from '../import-heartbeats.js'
import { unpacked } from '../parsing/unpack.js'
import { projectHostOf } from '../project-names.js'
import { reduceFile } from '../reduce-file.js'

/** How many files can be uploaded concurrently. */
const MAX_CONCURRENT = 8
const MAX_WAITING = 32
const WAIT_MS = 5_000
/** What one file takes in memory before it needs the only permit for more. The largest take 120 MB. */
const MANY_BYTES = 16_777_216
const WAIT_FOR_MEMORY_MS = 30_000
/** The minimum rate of a file while others wait. Slower senders have a few seconds of grace, which faster ones earn back. */
const BYTES_PER_MS = 250
const GRACE_MS = 3_000

const tooSlow = () =>
  new ApiError('request_timeout', {
    detail:
      'The file arrived too slowly while others waited. Send it again later, or from a faster connection.',
  })

/** Reads the data that has arrived. Waiting for more doesn't count as working time. */
async function* chunksOf(
  { raw, work }: FastifyRequest,
  areOthersWaiting: () => boolean,
): AsyncGenerator<Buffer> {
  // The rest of a rejected file is read like other bodies, so that its connection stays open for the response.
  const chunks = raw.iterator({ destroyOnReturn: false })
  let received = 0
  /** Only time spent waiting for the sender uses it, not the time for unpacking and reading. */
  let graceMs = GRACE_MS
  const next = async (): Promise<IteratorResult<Buffer>> => {
    const since = performance.now()
    const isTooSlow = () => performance.now() - since > graceMs && areOthersWaiting()
    const slow = new AbortController()
    const check = setInterval(() => isTooSlow() && slow.abort(), 500)
    const gaveUp = once(slow.signal, 'abort').then((): never => {
      throw tooSlow()
    })
    const chunk = chunks.next().catch((cause) => {
      throw new ApiError('bad_request', { detail: 'The upload was cut off.', cause })
    })
    try {
      return await Promise.race([chunk, gaveUp])
    } finally {
      clearInterval(check)
      graceMs -= performance.now() - since
    }
  }
  try {
    for (;;) {
      work?.pause()
      const { done, value } = await next()
      work?.resume()
      if (done) return
      received += value.length
      graceMs = Math.min(GRACE_MS, graceMs + value.length / BYTES_PER_MS)
      if (received > limits.import_body_bytes) throw new ApiError('payload_too_large')
      // Small chunks can arrive too often for the check of a single wait.
      if (graceMs < 0 && areOthersWaiting()) throw tooSlow()
      yield value
    }
  } finally {
    // The rest of the body may never come.
    void chunks.return?.()
  }
}

export const importRoutes: FastifyPluginAsyncTypebox<{ imports: Job }> = async (app, { imports }) => {
  const { config, database } = app
  const host = projectHostOf(config.repohost)
  const unavailable = () => new ApiError('unavailable')
  const arrivals = new Semaphore(MAX_CONCURRENT, MAX_WAITING, WAIT_MS, unavailable)
  const memory = new Semaphore(1, MAX_CONCURRENT, WAIT_FOR_MEMORY_MS, unavailable)

  // The handler reads the file as it arrives.
  disableAllBodyParsing(app)

  const shared = { tags: ['editors'], params: EditorParams }

  app.route({
    method: 'POST',
    url: '/users/:user/import',
    bodyLimit: limits.import_body_bytes,
    config: { access: writingEditor, accessBeforeBody: true, errors: ['bad_request', 'request_timeout'] },
    schema: {
      ...shared,
      operationId: 'startImport',
      summary: 'Import past heartbeats',
      description: `WakaTime's data dump of heartbeats, or the CSV or JSON of wakapi, of at most ${limits.import_body_bytes} bytes. The file may be gzip, or a ZIP with one JSON or CSV file in it, and is at most ${limits.import_unpacked_bytes} bytes unpacked. CSV has commas, semicolons or tabs, and text is UTF-8, or UTF-16 with a byte order mark. Other archives, spreadsheets, and files in which a spreadsheet has rounded all times are rejected with a message that names them. While the file arrives, it is reduced to times and projects, and nothing else is stored. Its days are then counted in the background, but in each workspace only from the day the caller joined. A later import of the same day counts only additional minutes. A person can have one import at a time.`,
      response: { 202: ref(Import) },
    },
    handler: async (request, reply) => {
      const { userId } = request.caller
      if (Number(request.headers['content-length'] ?? 0) > limits.import_body_bytes)
        throw new ApiError('payload_too_large')
      await requireNoImport(app.db, userId)
      // One file each, so that a slow sender holds only one permit.
      const releasePermit = await app.rateLimits.acquirePermit(request, 'import')
      let isLarge = false
      const requireMemory = async (bytes: number) => {
        if (isLarge || bytes <= MANY_BYTES) return
        request.work?.pause()
        await memory.acquire()
        request.work?.resume()
        isLarge = true
      }
      try {
        const file = await arrivals.run(() => {
          app.bodyTimeouts.extendForUpload(request.raw)
          const areOthersWaiting = () => arrivals.queueLength > 0 || memory.queueLength > 0
          return reduceFile(unpacked(chunksOf(request, areOthersWaiting)), host, requireMemory)
        })
        requireTimelyBody(request)
        const started = await startImport(database, userId, file)
        void imports.run()
        return reply.code(202).send(started)
      } finally {
        if (isLarge) memory.release()
        releasePermit()
      }
    },
  })

  app.route({
    method: 'GET',
    url: '/users/:user/import',
    config: { access: readingEditor },
    schema: {
      ...shared,
      operationId: 'getImport',
      summary: 'Get the latest import’s progress',
      response: { 200: ref(Import) },
    },
    handler: (request) => describeImport(app.db, request.caller.userId),
  })

  app.route({
    method: 'DELETE',
    url: '/users/:user/import',
    config: { access: writingEditor },
    schema: {
      ...shared,
      operationId: 'cancelImport',
      summary: 'Cancel the import',
      description: 'Minutes that were already counted stay.',
      response: { 200: ref(Ok) },
    },
    handler: async (request) => {
      await cancelImport(database, request.caller.userId)
      return { ok: true } as const
    },
  })
}
