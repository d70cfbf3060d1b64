/** How answers are written: by the serializers that Fastify makes of the schemas. */
import { createRequire } from 'node:module'
import type { FastifyInstance, FastifySerializerCompiler } from 'fastify'
import { once } from '../runtime/once.js'

/** Fastify exports this nowhere, so it is loaded as Fastify loads it. */
const loadFactory = (): ((resources: object) => FastifySerializerCompiler<unknown>) =>
  createRequire(import.meta.resolve('fastify'))('@fastify/fast-json-stringify-compiler')()

/** Compiles serializers at their first use, for the reason that validators are. */
export const installSerialization = (app: FastifyInstance) => {
  const compile = once(() => loadFactory()(app.getSchemas()))
  app.setSerializerCompiler((part) => {
    const serialize = once(() => compile()(part))
    return (data) => serialize()(data)
  })
}
