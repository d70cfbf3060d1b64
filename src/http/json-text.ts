/** Answers made of stored JSON text: settings go out as they came in, without being parsed. */
import type { FastifyReply } from 'fastify'

/** `{...before, settings, ...after}`, where `settings` is JSON text already; neither neighbour is empty. */
export const withSettingsText = (before: object, settings: string, after: object): string =>
  `${JSON.stringify(before).slice(0, -1)},"settings":${settings},${JSON.stringify(after).slice(1)}`

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends a body that is JSON text already, past the serialiser of the route's schema. */
export const sendJsonText = (reply: FastifyReply, text: string) => reply.type(JSON_TYPE).send(text as never)
