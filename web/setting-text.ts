/** The page's texts about a setting. The JSON editor's chunk needs these functions, and nothing else of the page. */

/** The parts of a setting's schema that the page shows. A published extension may contain anything else. */
export interface Property {
  type?: string | string[]
  enum?: unknown[]
  enumDescriptions?: string[]
  markdownEnumDescriptions?: string[]
  default?: unknown
  description?: string
  markdownDescription?: string
  /** Without a text, if the extension has none. */
  deprecated?: boolean
  deprecationMessage?: string
  markdownDeprecationMessage?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  items?: Property
  editPresentation?: string
}
export type Properties = Record<string, Property>

export const typeOf = ({ type }: Property): string[] => (type === undefined ? [] : [type].flat())

/** Markdown without its markup. */
export const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`#?([^`]*?)#?`/g, '$1')
    .replaceAll(/\*\*?([^*]+)\*\*?/g, '$1')

/** A setting's types, bounds and default, one sentence each. */
export const boundsOf = (schema: Property): string => {
  const { minimum, maximum, maxLength, maxItems, items } = schema
  const types = typeOf(schema)
  const inside = items ? typeOf(items).join(' or ') : ''
  const named = types.map((type) => (type === 'array' && inside ? `array of ${inside}` : type))
  const kind = schema.enum ? 'one of the listed values' : named.join(' or ') || 'any value'
  const bounds = [
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `at least ${minimum}`
        : maximum !== undefined && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems} items`,
  ].filter(Boolean)
  const text = [kind, ...bounds].join(', ')
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`
}

/** Whether a value has a setting's type and bounds. */
export const fits = (schema: Property, value: unknown): boolean => {
  const { enum: values, minimum, maximum, maxLength, maxItems, items } = schema
  if (values) return values.some((one) => JSON.stringify(one) === JSON.stringify(value))
  const types = typeOf(schema)
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  if (types.length > 0 && !types.includes(kind) && !(types.includes('integer') && Number.isInteger(value)))
    return false
  if (typeof value === 'number')
    return value >= (minimum ?? Number.NEGATIVE_INFINITY) && value <= (maximum ?? Number.POSITIVE_INFINITY)
  if (typeof value === 'string') return value.length <= (maxLength ?? value.length)
  if (!Array.isArray(value)) return true
  return value.length <= (maxItems ?? value.length) && (!items || value.every((item) => fits(items, item)))
}

export const descriptionOf = ({ markdownDescription, description = '' }: Property): string =>
  markdownDescription ?? description

export const describe = (schema: Property): string =>
  [plainText(descriptionOf(schema)), boundsOf(schema)].filter(Boolean).join('\n\n')
