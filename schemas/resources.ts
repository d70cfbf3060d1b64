import type { TSchema } from '@sinclair/typebox'
import * as contract from './index.js'

type Shared = TSchema & { $id: string }

const isResource = (exported: unknown): exported is Shared =>
  typeof exported === 'object' && exported !== null && '$id' in exported

/** The schemas with an `$id`: what `ref` can refer to, and components of the document. */
export const resources: Shared[] = Object.values<unknown>(contract).filter(isResource)
