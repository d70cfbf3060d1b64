/** The serializers of responses, made of the schemas. */
import serializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { resources } from '../../../schemas/resources.js'
import { memoizeBySchema } from './memoize-by-schema.js'

type Serialize = ReturnType<FastifySerializerCompiler<unknown>>

const buildCompiler = serializerSelector()
const resourceTexts = new Map(resources.map((resource) => [resource.$id, JSON.stringify(resource)]))

/**
 * The resources that a schema refers to, directly or through others. The compiler processes everything that it gets again
 * for every schema, which would dominate the start.
 */
const resourcesIn = (text: string, found: Record<string, unknown> = {}): Record<string, unknown> => {
  for (const [, id = ''] of text.matchAll(/"\$ref":"(\w+)#"/g)) {
    const resource = resourceTexts.get(id)
    if (resource === undefined || id in found) continue
    found[id] = JSON.parse(resource)
    resourcesIn(resource, found)
  }
  return found
}

const compile = memoizeBySchema(
  (schema, text) => buildCompiler(resourcesIn(text))({ schema } as never) as Serialize,
)

export const installSerialization = (app: FastifyInstance) => {
  app.setSerializerCompiler(({ schema }) => compile(schema))
}
