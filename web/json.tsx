/** Settings as JSON: validation while the person types, and differences by key. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { bytes } from './format.js'
import { start } from './start.js'

export type Values = Record<string, unknown>

export const textOf = (values: Values): string => JSON.stringify(values, null, 2)

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

export const SETTINGS_BYTES = 262_144
const KEY_LENGTH = 200

export const sizeOf = (values: Values): number => new TextEncoder().encode(JSON.stringify(values)).length

/** The settings in a text, or what is wrong with it. */
export const parse = (text: string, { allowNull = false } = {}): { values: Values } | { error: string } => {
  let values: unknown
  try {
    values = JSON.parse(text)
  } catch (error) {
    return { error: `Invalid JSON: ${(error as Error).message}` }
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    return { error: 'Settings must be an object, such as { "key": value }.' }
  }
  const prefix = `${start.extension_prefix}.`
  for (const [key, value] of Object.entries(values)) {
    if (!key.startsWith(prefix)) return { error: `“${key}” must start with “${prefix}”.` }
    if (key.length > KEY_LENGTH)
      return { error: `“${key.slice(0, 40)}…” is longer than ${KEY_LENGTH} characters. Shorten the key.` }
    if (value === null && !allowNull) return { error: `“${key}” is null. To remove a key, delete its line.` }
  }
  const size = sizeOf(values as Values)
  if (size > SETTINGS_BYTES)
    return {
      error: `The settings take ${bytes(size)} of at most ${bytes(SETTINGS_BYTES)}. Remove some keys.`,
    }
  return { values: values as Values }
}

/** The merge patch that turns `before` into `after`. null removes a key. */
export const patchOf = (before: Values, after: Values): Values => {
  const patch: Values = {}
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null
  for (const [key, value] of Object.entries(after)) if (!same(value, before[key])) patch[key] = value
  return patch
}

/** Applies a merge patch to the first level of keys. */
export const merged = (before: Values, patch: Values): Values => {
  const after = { ...before }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete after[key]
    else after[key] = value
  }
  return after
}

/** Differences by key, shown by sign and by colour. */
export const Diff = ({ before, after }: { before: Values; after: Values }) => {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !same(before[key], after[key]) || key in before !== key in after,
  )
  if (keys.length === 0) return <p class="muted">No differences.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be scrollable by keyboard
    <section class="diff" aria-label="Differences" tabIndex={0}>
      {keys.map((key) => (
        <div key={key}>
          {key in before && (
            <del>
              - {key}: {JSON.stringify(before[key])}
            </del>
          )}
          {key in after && (
            <ins>
              + {key}: {JSON.stringify(after[key])}
            </ins>
          )}
        </div>
      ))}
    </section>
  )
}

/** A JSON field that shows errors while the person types. */
export const JsonField = (props: {
  label: string
  text: string
  error: string | undefined
  onType: (text: string) => void
  children?: ComponentChildren
}) => {
  const id = useId()
  return (
    <div class="stack tight">
      <label class="field">
        {props.label}
        <textarea
          spellcheck={false}
          value={props.text}
          aria-invalid={props.error !== undefined}
          aria-describedby={id}
          onInput={(event) => props.onType(event.currentTarget.value)}
        />
      </label>
      <p id={id} class={props.error ? '' : 'small muted'} role="status">
        {props.error ?? props.children}
      </p>
    </div>
  )
}
