/** Answers made of stored JSON text, which isn't parsed on the way out. */
import type { FastifyReply } from 'fastify'

/** `{...before, settings, ...after}` for `settings` that are JSON text. Neither `before` nor `after` may be empty. */
export const withSettingsText = (before: object, settings: string, after: object): string =>
  `${JSON.stringify(before).slice(0, -1)},"settings":${settings},${JSON.stringify(after).slice(1)}`

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends JSON text, bypassing the serializer of the route. */
export const sendJsonText = (reply: FastifyReply, text: string) => reply.type(JSON_TYPE).send(text as never)
