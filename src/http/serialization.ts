/** The serializers of answers, made of the schemas. */
import serializerSelector from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { resources } from '../../schemas/resources.js'

type Serialize = ReturnType<FastifySerializerCompiler<unknown>>

const buildCompiler = serializerSelector()
const resourceTexts = new Map(resources.map((resource) => [resource.$id, JSON.stringify(resource)]))

/**
 * The resources that a schema refers to, directly or through others. The compiler examines all that it is given anew
 * for every schema, which would be most of a start.
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

/** By the text of their schema: many routes share one, and so do all services of a process. */
const compiled = new Map<string, Serialize>()

const compile: FastifySerializerCompiler<unknown> = (route) => {
  const text = JSON.stringify(route.schema)
  const serialize = compiled.get(text) ?? (buildCompiler(resourcesIn(text))(route as never) as Serialize)
  compiled.set(text, serialize)
  return serialize
}

export const installSerialization = (app: FastifyInstance) => {
  app.setSerializerCompiler(compile)
}
