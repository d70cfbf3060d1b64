import { Type } from '@sinclair/typebox'
import { Named } from './common.js'

export const Health = Named('Health', {
  ok: Type.Literal(true),
  version: Type.String({ examples: ['1.0.0'] }),
})
