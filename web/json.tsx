/** Settings as JSON, validated while the person types, and differences by key. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { limits } from '../schemas/limits.js'
import { ANY_PREFIX, isLocked, isSameSetting, locksOf, settingsKeys } from '../schemas/settings-keys.js'
import type { CodeEditor } from './code-editor.js'
import { bytes } from './format.js'
import { type Fault, placeOf, scanJson } from './json-scan.js'
import { SettingKey } from './setting-key.js'
import { boundsOf, fits, type Properties } from './setting-text.js'
import { start } from './start.js'

const keys = settingsKeys(start.settings_keys)

export type Values = Record<string, unknown>

export const textOf = (values: Values): string => JSON.stringify(values, null, 2)

export const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

export const sizeOf = (values: Values): number => new TextEncoder().encode(JSON.stringify(values)).length

interface ParseOptions {
  /** Overrides unset keys with null. */
  allowNull?: boolean
  /** Keys that only the workspace settings may contain. */
  locked?: readonly string[]
}

const isFault = (fault: Fault | false): fault is Fault => fault !== false

/** What to do about a key whose prefix isn't listed. Undefined for other keys. */
const unsharedText = (key: string): string | undefined => {
  const [, prefix] = key.length <= limits.settings_key_length ? (/^([\w-][\w -]*)\./.exec(key) ?? []) : []
  return prefix === undefined || keys.canExist(key)
    ? undefined
    : `This server doesn’t share ${prefix} settings yet. Its operator can add “${prefix}”.`
}

/** Everything that prevents saving, with its position. */
export const faultsOf = (text: string, { allowNull = false, locked = [] }: ParseOptions = {}): Fault[] => {
  const { syntax, faults, members, isObject } = scanJson(text)
  if (syntax) {
    return [{ ...syntax, message: `Invalid JSON: ${syntax.message} at ${placeOf(text, syntax.from)}.` }]
  }
  const whole = { from: 0, to: text.length }
  const locks = locksOf([...locked])
  if (!isObject) return [{ ...whole, message: 'Settings must be an object, such as { "key": value }.' }]
  const values: Values = JSON.parse(text)
  const known = new Map(
    keys
      .faultsIn(values, allowNull ? 'override' : 'workspace')
      .map(({ block, key, message }) => [JSON.stringify([block, key]), message]),
  )
  const wrong = members.map(({ block, key, from, to, isNull }): Fault | false => {
    const fault = known.get(JSON.stringify([block, key]))
    const message =
      isNull && !allowNull && keys.canExist(key)
        ? `“${key}” is null. To remove a key, delete its line.`
        : fault !== undefined
          ? (unsharedText(key) ??
            `“${key.slice(0, limits.settings_key_length)}” ${fault.replaceAll(/`([^`]*)`/g, '“$1”')}.`)
          : isLocked(locks, key)
            ? `“${key}” is locked. Remove it from the override, or unlock it in the workspace settings.`
            : undefined
    return message !== undefined && { from, to, message, key: block ?? key }
  })
  const size = sizeOf(values)
  const tooLarge = size > limits.settings_bytes && {
    ...whole,
    message: `The settings have ${bytes(size)}. The limit is ${bytes(limits.settings_bytes)}. Remove some keys.`,
  }
  return [...faults, ...wrong, tooLarge].filter(isFault)
}

const prefixes = keys.prefixes.filter((prefix) => prefix !== ANY_PREFIX)

/** Values that don't fit the schema. Whether they can be saved is the server's choice. */
const misfitsOf = (text: string, properties: Properties): Fault[] => {
  const { syntax, members, isObject } = scanJson(text)
  if (syntax || !isObject) return []
  const values = new Map(Object.entries<unknown>(JSON.parse(text)))
  const described = new Map(Object.entries(properties))
  return members.flatMap(({ block, key, from, to, isNull }) => {
    const schema = block === undefined && !isNull ? described.get(key) : undefined
    return schema && !fits(schema, values.get(key))
      ? { from, to, message: `“${key}” doesn’t fit. Expected: ${boundsOf(schema)}` }
      : []
  })
}

/** The settings in a text, or what's wrong with it. */
export const parse = (text: string, options?: ParseOptions): { values: Values } | { error: string } => {
  const [fault] = faultsOf(text, options)
  return fault ? { error: fault.message } : { values: JSON.parse(text) }
}

/** The merge patch that turns `before` into `after`. null removes a key. */
export const patchOf = (before: Values, after: Values): Values => {
  const patch: Values = {}
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null
  for (const [key, value] of Object.entries(after))
    if (!isSameSetting(key, value, before[key])) patch[key] = value
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

export const changedKeys = (before: Values, after: Values): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => !isSameSetting(key, before[key], after[key]) || key in before !== key in after,
  )

/** Differences by key, shown by sign and by color. `about` adds a line below a key. */
export const Diff = (props: {
  before: Values
  after: Values
  about?: (key: string) => ComponentChildren
}) => {
  const { before, after, about } = props
  const keys = changedKeys(before, after)
  if (keys.length === 0) return <p class="muted">No differences.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be scrollable by keyboard
    <section class="diff" aria-label="Differences" tabIndex={0}>
      {keys.map((key) => {
        const note = about?.(key)
        return (
          <div key={key}>
            {key in before && (
              <del>
                - <SettingKey name={key} />: {JSON.stringify(before[key])}
              </del>
            )}
            {key in after && (
              <ins>
                + <SettingKey name={key} />: {JSON.stringify(after[key])}
              </ins>
            )}
            {note && <div class="muted">{note}</div>}
          </div>
        )
      })}
    </section>
  )
}

const MAX_LISTED = 10

/** The faults that prevent saving, or without faults the children. */
export const FaultList = (props: { id?: string; faults: Fault[]; children?: ComponentChildren }) => {
  const { id, faults, children } = props
  const listed = faults.slice(0, MAX_LISTED)
  const more = faults.length - listed.length
  return (
    <div id={id} class={faults.length > 0 ? '' : 'small muted'} role="status">
      {faults.length === 0 ? children : listed.map(({ from, message }) => <p key={from}>{message}</p>)}
      {more > 0 && <p>And {more} more.</p>}
    </div>
  )
}

/** A JSON editor that shows errors while the person types. Until its code has loaded, it's a plain text field. */
export const JsonField = (props: {
  label: string
  text: string
  faults: Fault[]
  properties?: Properties | undefined
  onType: (text: string) => void
  children?: ComponentChildren
}) => {
  const { label, text, faults, properties = {} } = props
  const misfits = faults.length > 0 ? [] : misfitsOf(text, properties)
  const id = useId()
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const [editor, setEditor] = useState<CodeEditor>()
  const latest = useRef(props)
  latest.current = props
  useEffect(() => {
    let isGone = false
    let made: CodeEditor | undefined
    import('./code-editor.js').then(
      ({ createEditor }) => {
        const [parent, { current: field }] = [host.current, plain]
        if (isGone || !parent) return
        // Shown at once, because a hidden editor can't take over the focus.
        parent.hidden = false
        made = createEditor(parent, {
          label,
          text: field?.value ?? latest.current.text,
          selection: field ? [field.selectionStart, field.selectionEnd] : [0, 0],
          onType: (typed) => latest.current.onType(typed),
        })
        if (field && document.activeElement === field) made.focus()
        setEditor(made)
      },
      // The plain field works without it.
      () => {},
    )
    return () => {
      isGone = true
      made?.destroy()
    }
  }, [])
  useEffect(
    () => editor?.show({ text, faults, misfits, properties, prefixes }),
    [editor, text, properties, JSON.stringify(faults)],
  )
  return (
    <div class="stack tight">
      <div class="field">
        {!editor && (
          <label class="field">
            {label}
            <textarea
              ref={plain}
              spellcheck={false}
              value={text}
              aria-invalid={faults.length > 0}
              aria-describedby={id}
              onInput={(event) => props.onType(event.currentTarget.value)}
            />
          </label>
        )}
        {editor && <strong aria-hidden="true">{label}</strong>}
        <div ref={host} class="code" hidden={!editor} />
      </div>
      <FaultList id={id} faults={faults}>
        {props.children}
        {misfits.slice(0, MAX_LISTED).map(({ from, message }) => (
          <p key={from}>{message}</p>
        ))}
      </FaultList>
    </div>
  )
}
