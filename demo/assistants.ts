/**
 * Stand-ins for the two model providers, for tests and the demo: the model lists of OpenAI (A) and Anthropic (B) in
 * their shapes, with their ways to pass a key; B serves pages of `limit` models.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type StandIn, sendJson, serveStandIn } from './stand-in.js'

export interface AssistantStandIn extends StandIn {
  /** The only valid key. */
  key: string
  /** The listed models, as id and time, in the order of the provider. */
  models: { id: string; createdAt: string }[]
  /** Serves the same page endlessly, with a new cursor each time. */
  endless: boolean
  /** The maximum page size, whatever the request asks for. */
  pageSize: number
}

const invented = (name: string) =>
  Array.from({ length: 5 }, (_, index) => ({
    id: `${name}-${index + 1}`,
    createdAt: new Date(Date.UTC(2025, index * 2, 15, 9)).toISOString(),
  }))

const start = async (
  name: string,
  respond: (request: IncomingMessage, response: ServerResponse, url: URL, standIn: AssistantStandIn) => void,
): Promise<AssistantStandIn> => {
  const server = await serveStandIn((request, response, url) => {
    if (request.method === 'GET' && url.pathname === '/v1/models')
      return respond(request, response, url, standIn)
    sendJson(response, 404, { error: { message: 'Not found' } })
  })
  const key = `sk-${name}-key`
  const standIn = Object.assign(server, { key, models: invented(name), endless: false, pageSize: 1_000 })
  return standIn
}

export const startAssistantA = () =>
  start('alpha', (request, response, _url, { key, models }) => {
    if (request.headers.authorization !== `Bearer ${key}`) {
      const message = `Incorrect API key provided: ${request.headers.authorization}`
      return sendJson(response, 401, { error: { message, code: 'invalid_api_key' } })
    }
    sendJson(response, 200, {
      object: 'list',
      data: models.map(({ id, createdAt }) => ({
        id,
        object: 'model',
        created: Date.parse(createdAt) / 1_000,
        owned_by: 'alpha',
      })),
    })
  })

export const startAssistantB = () =>
  start('beta', (request, response, url, { key, models, endless, pageSize }) => {
    if (request.headers['x-api-key'] !== key) {
      const error = {
        type: 'authentication_error',
        message: `invalid x-api-key ${request.headers['x-api-key']}`,
      }
      return sendJson(response, 401, { type: 'error', error })
    }
    const limit = Number(url.searchParams.get('limit') ?? 20)
    if (request.headers['anthropic-version'] === undefined || !(limit >= 1 && limit <= 1_000)) {
      return sendJson(response, 400, { type: 'error', error: { type: 'invalid_request_error' } })
    }
    const after = url.searchParams.get('after_id')
    const from = after === null || endless ? 0 : models.findIndex(({ id }) => id === after) + 1
    const page = models.slice(from, from + Math.min(limit, pageSize))
    sendJson(response, 200, {
      data: page.map(({ id, createdAt }) => ({
        type: 'model',
        id,
        display_name: `Model ${id}`,
        created_at: createdAt,
      })),
      has_more: endless || from + page.length < models.length,
      first_id: page[0]?.id ?? null,
      last_id: endless ? `cursor-${Math.random()}` : (page.at(-1)?.id ?? null),
    })
  })
