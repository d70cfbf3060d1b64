import { Type } from '@sinclair/typebox'
import { Closed } from './common.js'

export const Health = Closed({ ok: Type.Literal(true), version: Type.String({ examples: ['0.1.0'] }) })
