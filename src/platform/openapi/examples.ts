/** Body examples, made from the `examples` in the schemas: the schema's own, or else those of its parts. */
export interface ExampleSchema {
  $ref?: string
  examples?: unknown[]
  const?: unknown
  default?: unknown
  enum?: unknown[]
  anyOf?: ExampleSchema[]
  type?: string | string[]
  items?: ExampleSchema
  required?: string[]
  properties?: Record<string, ExampleSchema>
  additionalProperties?: unknown
}

type Schemas = Record<string, ExampleSchema>

const hasExample = ({ $ref, examples, default: preset }: ExampleSchema, schemas: Schemas): boolean =>
  preset !== undefined ||
  examples !== undefined ||
  ($ref !== undefined && hasExample(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas))

/** Includes optional properties that have their own example. @throws for a part that has none */
export const exampleOf = (schema: ExampleSchema, schemas: Schemas, where = ''): unknown => {
  const { $ref, examples, anyOf, type, items, properties, required = [] } = schema
  if (examples !== undefined) return examples[0]
  if ($ref !== undefined) return exampleOf(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, schemas, where)
  for (const fixed of [schema.const, schema.default, schema.enum?.[0]]) if (fixed !== undefined) return fixed
  if (anyOf?.[0]) return exampleOf(anyOf[0], schemas, where)
  // For a nullable type, use the first type, which isn't null.
  const kind = [type].flat()[0]
  if (kind === 'array' && items) return [exampleOf(items, schemas, `${where}/0`)]
  if (kind === 'object' && schema.additionalProperties === false) {
    const shownProperties = Object.entries(properties ?? {}).filter(
      ([name, property]) => required.includes(name) || hasExample(property, schemas),
    )
    return Object.fromEntries(
      shownProperties.map(([name, property]) => [name, exampleOf(property, schemas, `${where}/${name}`)]),
    )
  }
  throw new Error(`${where || 'the whole'} has no example: give its schema \`examples\`, in schemas/`)
}
