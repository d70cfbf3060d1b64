/** Settings as JSON: checked while one types, and differences by key. */
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

/** What was typed, as values; or why it is none, in words. */
export const parse = (text: string, { mayHide = false } = {}): { values: Values } | { fault: string } => {
  let values: unknown
  try {
    values = JSON.parse(text)
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` }
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    return { fault: 'Settings are an object: { "key": value }' }
  }
  const prefix = `${start.extension_prefix}.`
  for (const [key, value] of Object.entries(values)) {
    if (!key.startsWith(prefix)) return { fault: `Keys begin with “${prefix}”; “${key}” does not.` }
    if (key.length > KEY_LENGTH)
      return { fault: `“${key.slice(0, 40)}…” is longer than ${KEY_LENGTH} characters.` }
    if (value === null && !mayHide) return { fault: `“${key}” is null: to remove a key, take its line out.` }
  }
  const size = sizeOf(values as Values)
  if (size > SETTINGS_BYTES)
    return { fault: `This is ${bytes(size)}; at most ${bytes(SETTINGS_BYTES)} are kept.` }
  return { values: values as Values }
}

/** What has to be merged into `before` so that `after` comes out: null removes. */
export const patchOf = (before: Values, after: Values): Values => {
  const patch: Values = {}
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null
  for (const [key, value] of Object.entries(after)) if (!same(value, before[key])) patch[key] = value
  return patch
}

/** A merge patch on the first level of keys. */
export const merged = (before: Values, patch: Values): Values => {
  const after = { ...before }
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete after[key]
    else after[key] = value
  }
  return after
}

/** Differences by key, with signs as well as colours. */
export const Diff = ({ before, after }: { before: Values; after: Values }) => {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !same(before[key], after[key]) || key in before !== key in after,
  )
  if (keys.length === 0) return <p class="muted">No difference.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keyboard, too
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

/** A field for JSON that says what is wrong while one types. */
export const JsonField = (props: {
  label: string
  text: string
  fault: string | undefined
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
          aria-invalid={props.fault !== undefined}
          aria-describedby={id}
          onInput={(event) => props.onType(event.currentTarget.value)}
        />
      </label>
      <p id={id} class={props.fault ? '' : 'small muted'} role="status">
        {props.fault ?? props.children}
      </p>
    </div>
  )
}
