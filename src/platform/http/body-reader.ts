/** How a large body is read: by the same functions on the main thread and in a worker thread. */
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { type BodyContext, readBody } from './json-body.js'
import type { Bounds } from './strict-json.js'

export interface BodyReader<Read extends object, Context extends object> {
  /** The module that exports it as `reader`, where a thread finds it (`test/sources.test.ts` checks this). */
  module: string
  /** @param bytes may be empty @throws {StrictJsonError} {InvalidBody} */
  read(bytes: Buffer, context: Context): Read
  /** The result's buffers, which move to the main thread without a copy. */
  buffersOf?(read: Read): ArrayBuffer[]
}

/** Reads JSON that matches a schema (`largeJson`). */
export interface JsonReader<Read extends object> extends BodyReader<Read, BodyContext> {
  schema: TSchema
  maxBytes: number
}

interface Declaration<Schema extends TObject, Read extends object>
  extends Pick<JsonReader<Read>, 'module' | 'maxBytes' | 'buffersOf'> {
  schema: Schema
  bounds?: Bounds
  /** Converts a valid body into the handler's input. @throws {InvalidBody} */
  convert(body: Static<Schema>, context: BodyContext): Read
}

export const jsonReader = <Schema extends TObject, Read extends object>({
  bounds,
  convert,
  ...declared
}: Declaration<Schema, Read>): JsonReader<Read> => ({
  ...declared,
  read: (bytes, context) =>
    convert(readBody<Static<Schema>>(bytes, declared.schema, context, bounds), context),
})
