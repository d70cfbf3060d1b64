/**
 * The model providers: A speaks OpenAI's API (platform.openai.com/docs/api-reference/models/list), B Anthropic's
 * (docs.anthropic.com/en/api/models-list). The caller's key goes into a header of these calls and nowhere else.
 */
import type { Model } from '../../../schemas/models.js'
import { ApiError } from '../../errors.js'
import type { Trace } from '../../platform/http/trace.js'
import { getJsonFrom, rateLimitedUpstream, type UpstreamResponse } from '../../platform/http/upstream.js'
import { type Meter, noopMeter } from '../../platform/metrics/meter.js'

/** A model provider. */
export interface Assistant {
  /**
   * All models that the key may use, newest first.
   * @throws {ApiError} `assistant_key_rejected`, `upstream_failed`, `upstream_timeout`
   */
  listModels(key: string, trace?: Trace): Promise<Model[]>
}

export interface Assistants {
  a: Assistant
  b: Assistant
}

/** The time budget for all pages of a lookup. */
const BUDGET_MS = 10_000
/** No provider has as many. A provider that pages endlessly mustn't use up time or memory. */
const MAX_PAGES = 20

interface Shape {
  upstream: 'assistant-a' | 'assistant-b'
  headersFor(key: string): Record<string, string>
  firstPage: Record<string, string>
  /** The query parameter for the previous page's last id. */
  after: string
  /** The model in an entry of the list. Undefined if the entry isn't a model. */
  readModel(entry: Record<string, unknown>): Model | undefined
}

const shapeA: Shape = {
  upstream: 'assistant-a',
  headersFor: (key) => ({ Authorization: `Bearer ${key}` }),
  firstPage: {},
  after: 'after',
  readModel: ({ id, created }) =>
    typeof id === 'string'
      ? {
          id,
          name: id,
          created_at: timestampOrNull(typeof created === 'number' ? created * 1_000 : undefined),
        }
      : undefined,
}

const shapeB: Shape = {
  upstream: 'assistant-b',
  headersFor: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  firstPage: { limit: '1000' },
  after: 'after_id',
  readModel: ({ id, display_name, created_at }) =>
    typeof id === 'string'
      ? {
          id,
          name: typeof display_name === 'string' ? display_name : id,
          created_at: timestampOrNull(typeof created_at === 'string' ? created_at : undefined),
        }
      : undefined,
}

export const createAssistants = (
  urls: { a: string; b: string },
  { budgetMs = BUDGET_MS, meter = noopMeter }: { budgetMs?: number; meter?: Meter } = {},
): Assistants => ({
  a: createAssistant(urls.a, shapeA, budgetMs, meter),
  b: createAssistant(urls.b, shapeB, budgetMs, meter),
})

const createAssistant = (url: string, shape: Shape, budgetMs: number, meter: Meter): Assistant => {
  const getJson = getJsonFrom(shape.upstream, meter)
  const failed = () => new ApiError('upstream_failed', { upstream: shape.upstream })

  const readPage = async (
    key: string,
    after: string | undefined,
    signal: AbortSignal,
    trace: Trace | undefined,
  ) => {
    const query = new URLSearchParams({
      ...shape.firstPage,
      ...(after !== undefined && { [shape.after]: after }),
    })
    const path = query.size > 0 ? `/v1/models?${query}` : '/v1/models'
    const headers = {
      Accept: 'application/json',
      'User-Agent': 'team-settings-cloud',
      ...shape.headersFor(key),
    }
    const response = await getJson(`${url}${path}`, headers, signal, trace)
    if (response.status === 401 || response.status === 403) throw new ApiError('assistant_key_rejected')
    if (response.status === 429) throw rateLimitedUpstream(shape.upstream, response.headers)
    const page = readList(response)
    const models = page?.entries.map((entry) => shape.readModel((entry ?? {}) as Record<string, unknown>))
    if (!page || !models?.every((model) => model !== undefined)) throw failed()
    return { models, next: page.next }
  }

  return {
    listModels: async (key, trace) => {
      const signal = AbortSignal.timeout(budgetMs)
      const models = new Map<string, Model>()
      let after: string | undefined
      for (let pages = 1; ; pages++) {
        const page = await readPage(key, after, signal, trace)
        for (const model of page.models) models.set(model.id, model)
        if (page.next === undefined) return [...models.values()].sort(newestFirst)
        if (pages === MAX_PAGES || page.next === after) throw failed()
        after = page.next
      }
    },
  }
}

const readList = ({ status, json }: UpstreamResponse) => {
  const { data, has_more, last_id } = (json ?? {}) as {
    data?: unknown
    has_more?: unknown
    last_id?: unknown
  }
  if (status !== 200 || !Array.isArray(data)) return undefined
  if (has_more !== true) return { entries: data as unknown[], next: undefined }
  // There is another page, but no cursor to request it with. A partial list mustn't look complete.
  return typeof last_id === 'string' ? { entries: data as unknown[], next: last_id } : undefined
}

const timestampOrNull = (time: number | string | undefined): string | null => {
  const date = new Date(time ?? Number.NaN)
  // RFC 3339 ends in the year 9999.
  return date.getTime() >= 0 && date.getUTCFullYear() <= 9_999 ? date.toISOString() : null
}

const newestFirst = (one: Model, other: Model) =>
  (other.created_at ?? '').localeCompare(one.created_at ?? '') || one.id.localeCompare(other.id)
