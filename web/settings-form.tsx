/** Settings as a form, in the schema's order and groups. */
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { isLocked, locksOf } from '../schemas/settings-keys.js'
import { count } from './format.js'
import { same, type Values } from './json.js'
import { scanJson } from './json-scan.js'
import { focusFirstIn } from './keyboard.js'
import { useUrlQuery } from './query.js'
import { Markdown, propertiesOf, type Schema } from './schema.js'
import { SettingKey } from './setting-key.js'
import { boundsOf, descriptionOf, type Property, plainText, typeOf } from './setting-text.js'
import { ShowMore, showAtOnce } from './ui.js'

interface Row {
  key: string
  group: string
  schema: Property
  /** Texts to search. */
  text: string
}

const [FIRST, STEP] = [20, 40]
const OTHER = 'Not in the schema'
const NOT_OFFERED = 'Other settings'

const rowsOf = (schema: Schema): Row[] => {
  const properties = propertiesOf(schema)
  return schema['x-groups'].flatMap(({ title, properties: keys }) =>
    keys.map((key) => {
      const property = properties[key] ?? {}
      const group = title ?? 'General'
      const values = property.enum?.join(' ') ?? ''
      const text = `${key} ${group} ${plainText(descriptionOf(property))} ${values}`.toLowerCase()
      return { key, group, schema: property, text }
    }),
  )
}

type Filter = 'all' | 'modified' | 'locked'

interface FormProps {
  schema: Schema
  /** Whether the schema only suggests settings, so that other keys are just as valid. */
  isOffer: boolean
  values: Values
  onChange: (values: Values) => void
  locked: readonly string[]
  /** Without it, locks are only shown. */
  onLock?: ((locked: string[]) => void) | undefined
  /** The workspace's values, if the form edits an override. */
  general?: Values | undefined
  /** What's wrong with a value, by key. */
  wrong: ReadonlyMap<string, string>
  /** Input that isn't a value yet, by key. */
  drafts: Record<string, string>
  onDraft: (key: string, text: string | undefined) => void
}

export const SettingsForm = (props: FormProps) => {
  const { schema, isOffer, values, onChange, locked, onLock, general, wrong, drafts, onDraft } = props
  const locks = locksOf([...locked])
  const url = useUrlQuery()
  const [query, search] = useState(url.query.setting ?? '')
  const [group, chooseGroup] = useState('')
  const [chosen, chooseFilter] = useState<Filter>()
  const [shown, show] = useState(FIRST)
  const [startsModified] = useState(!general && Object.keys(values).length > 0)
  const list = useRef<HTMLDivElement>(null)
  const fresh = useRef<number>(undefined)
  const id = useId()
  const declared = useMemo(() => rowsOf(schema), [schema])
  const known = useMemo(() => new Set(declared.map(({ key }) => key)), [declared])
  const groups = useMemo(() => [...new Set(declared.map((row) => row.group))], [declared])
  const other = isOffer ? NOT_OFFERED : OTHER
  const others = Object.keys(values)
    .filter((key) => !known.has(key))
    .map((key): Row => ({ key, group: other, schema: {}, text: key.toLowerCase() }))
  // A search covers all settings. Without one, the modified ones come first.
  const filter = chosen ?? (query === '' && startsModified ? 'modified' : 'all')
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const found = [...declared, ...others].filter(
    (row) =>
      (group === '' || row.group === group) &&
      (filter === 'all' || (filter === 'modified' ? row.key in values : locked.includes(row.key))) &&
      words.every((word) => row.text.includes(word)),
  )
  const { setting } = url.query
  useEffect(() => {
    if (setting === undefined) return
    search(setting)
    // Runs after a new screen's heading has taken the focus.
    setTimeout(() => focusFirstIn(list.current?.querySelector('.setting')))
    url.change({ setting: undefined }, true)
  }, [setting])
  useEffect(() => {
    if (fresh.current !== undefined) focusFirstIn(list.current?.querySelectorAll('.setting')[fresh.current])
    fresh.current = undefined
  }, [shown])
  const visible = found.slice(0, shown)
  const set = (key: string, value: unknown) => onChange({ ...values, [key]: value })
  const remove = (key: string) => {
    const { [key]: _, ...rest } = values
    onDraft(key, undefined)
    onChange(rest)
  }
  return (
    <div class="stack tight">
      <div class="row low">
        <input
          class="grow"
          type="search"
          placeholder="Search settings"
          aria-label="Search settings"
          value={query}
          onInput={(event) => {
            search(event.currentTarget.value)
            show(FIRST)
          }}
        />
        <select
          aria-label="Group"
          value={group}
          onChange={(event) => {
            chooseGroup(event.currentTarget.value)
            show(FIRST)
          }}
        >
          <option value="">All groups</option>
          {[...groups, ...(others.length > 0 ? [other] : [])].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <select
          aria-label="Filter"
          value={filter}
          onChange={(event) => {
            chooseFilter(event.currentTarget.value as Filter)
            show(FIRST)
          }}
        >
          <option value="all">All settings</option>
          <option value="modified">Modified</option>
          <option value="locked">Locked</option>
        </select>
      </div>
      <p class="small muted" role="status" id={id}>
        {count(found.length)} of {count(declared.length + others.length)} settings
      </p>
      <div ref={list} class="settings">
        {visible.map((row, index) => (
          <>
            {row.group !== visible[index - 1]?.group && <h3 key={`group ${row.group}`}>{row.group}</h3>}
            <Setting
              key={row.key}
              row={row}
              isSet={row.key in values}
              value={values[row.key]}
              draft={drafts[row.key]}
              wrong={wrong.get(row.key)}
              isLocked={general ? isLocked(locks, row.key) : locked.includes(row.key)}
              onSet={(value) => set(row.key, value)}
              onRemove={() => remove(row.key)}
              onDraft={(text) => onDraft(row.key, text)}
              onLock={
                onLock &&
                ((isOn) => onLock(isOn ? [...locked, row.key] : locked.filter((key) => key !== row.key)))
              }
              isOverride={general !== undefined}
              general={general && row.key in general ? JSON.stringify(general[row.key]) : undefined}
            />
          </>
        ))}
      </div>
      {found.length === 0 && <p class="muted">No settings found. Change the search or the filters.</p>}
      <ShowMore
        shown={shown}
        total={found.length}
        onMore={() => {
          fresh.current = shown
          show(shown + STEP)
        }}
      />
    </div>
  )
}

const deprecationOf = (schema: Property) => schema.markdownDeprecationMessage || schema.deprecationMessage

/** A setting's description, type and default. `undefined`: the operator's schema doesn't have it. */
export const About = ({ schema }: { schema: Property | undefined }) => {
  if (!schema) return <p class="muted">The settings schema doesn’t contain this key.</p>
  const deprecated = deprecationOf(schema)
  return (
    <>
      {descriptionOf(schema) && (
        <p>
          <Markdown text={descriptionOf(schema)} />
        </p>
      )}
      {deprecated && (
        <p>
          Deprecated: <Markdown text={deprecated} />
        </p>
      )}
      <p class="muted">
        {boundsOf(schema)}
        {schema.default !== undefined && (
          <>
            {' '}
            Default: <span class="mono">{shorten(JSON.stringify(schema.default))}</span>
          </>
        )}
      </p>
    </>
  )
}

const Setting = (props: {
  row: Row
  isSet: boolean
  value: unknown
  draft: string | undefined
  wrong: string | undefined
  isLocked: boolean
  isOverride: boolean
  /** The workspace's value as JSON, if the form edits an override. */
  general: string | undefined
  onSet: (value: unknown) => void
  onRemove: () => void
  onDraft: (text: string | undefined) => void
  onLock: ((isOn: boolean) => void) | undefined
}) => {
  const { row, isSet, value, draft, isLocked, isOverride, general, onSet, onRemove, onDraft, onLock } = props
  const fault =
    draft !== undefined && !isJson(draft) ? `Not a valid value. ${faultOf(props.row.schema)}` : undefined
  const wrong = fault ?? props.wrong
  const { key, schema } = row
  const id = useId()
  const isReadOnly = isOverride && isLocked
  const chosen = schema.enum?.findIndex((one) => same(one, isSet ? value : schema.default)) ?? -1
  const about = (schema.markdownEnumDescriptions ?? schema.enumDescriptions)?.[chosen]
  return (
    <div class={isSet ? 'setting set' : 'setting'}>
      <div class="row">
        <label for={id} class="mono">
          <strong>
            <SettingKey name={key} />
          </strong>
        </label>
        {isSet && <span class="tag">modified</span>}
        {isLocked && <span class="tag">locked</span>}
        {(deprecationOf(schema) || schema.deprecated === true) && <span class="tag">deprecated</span>}
      </div>
      <div id={`${id}-about`} class="small">
        <About schema={row.group === OTHER ? undefined : schema} />
        {general !== undefined && (
          <p class="muted">
            Workspace: <span class="mono">{shorten(general)}</span>
          </p>
        )}
        {isReadOnly && (
          <p>
            The workspace has locked this key.{' '}
            {isSet ? 'The value here has no effect.' : 'An override can’t contain it.'}
          </p>
        )}
      </div>
      <div class="row">
        {isReadOnly ? (
          <output id={id} class="mono">
            {isSet ? JSON.stringify(value) : 'not set'}
          </output>
        ) : (
          <Control id={id} isWrong={!!wrong} {...{ schema, isSet, value, draft, onSet, onRemove, onDraft }} />
        )}
        {onLock && <LockToggle name={key} isLocked={isLocked} mayLock={isSet} onLock={onLock} />}
        {isOverride && !isReadOnly && general !== undefined && value !== null && (
          <button type="button" class="plain act" onClick={() => onSet(null)}>
            Don’t apply here<span class="away">: {key}</span>
          </button>
        )}
        {isSet && (
          <button type="button" class="plain act" onClick={onRemove}>
            Remove<span class="away"> {key}</span>
          </button>
        )}
      </div>
      {isOverride && isSet && value === null && (
        <p class="small">The workspace’s value doesn’t apply here.</p>
      )}
      {about && (
        <p class="small muted">
          <Markdown text={about} />
        </p>
      )}
      {wrong && (
        <p
          class="small wrong"
          id={`${id}-fault`}
          role={fault ? 'status' : undefined}
          ref={fault ? showAtOnce : null}
        >
          {wrong}
        </p>
      )}
    </div>
  )
}

export const LockToggle = (props: {
  name: string
  isLocked: boolean
  mayLock: boolean
  onLock: (isOn: boolean) => void
}) => (
  <label class="row" title={props.mayLock ? undefined : 'Set a value to lock it'}>
    <input
      type="checkbox"
      aria-label={`Lock ${props.name}`}
      disabled={!props.mayLock}
      checked={props.isLocked}
      onChange={(event) => props.onLock(event.currentTarget.checked)}
    />
    Lock
  </label>
)

const MAX_TEXT_LENGTH = 120
const shorten = (text: string) =>
  text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text

const isNumber = (schema: Property) => {
  const types = typeOf(schema)
  return types.length === 1 && ['number', 'integer'].includes(types[0] ?? '')
}

/** Whether a text is JSON whose value can be stored exactly. */
export const isJson = (text: string): boolean => {
  const { syntax, faults } = scanJson(text)
  return syntax === undefined && faults.length === 0
}

const faultOf = (schema: Property) =>
  isNumber(schema) ? 'Enter a number.' : 'Enter JSON, such as ["a", "b"].'

/** The field for the type. Types without a special field are edited as JSON. */
const Control = (props: {
  id: string
  schema: Property
  isWrong: boolean
  isSet: boolean
  value: unknown
  draft: string | undefined
  onSet: (value: unknown) => void
  onRemove: () => void
  onDraft: (text: string | undefined) => void
}) => {
  const { id, schema, isWrong, isSet, value, draft, onSet, onRemove, onDraft } = props
  const types = typeOf(schema)
  const isFault = draft !== undefined && !isJson(draft)
  const described = { id, 'aria-describedby': `${id}-about ${id}-fault`, 'aria-invalid': isWrong }
  const options = schema.enum ?? (types.join() === 'boolean' ? [true, false] : undefined)
  if (options) {
    const at = options.findIndex((one) => same(one, value))
    return (
      <select
        {...described}
        class="value"
        value={isSet ? String(at) : ''}
        onChange={({ currentTarget: { value: chosen } }) =>
          chosen === '' ? onRemove() : chosen !== '-1' && onSet(options[Number(chosen)])
        }
      >
        <option value="">Not set</option>
        {isSet && at < 0 && <option value="-1">{JSON.stringify(value)}</option>}
        {options.map((one, index) => (
          <option key={JSON.stringify(one)} value={String(index)}>
            {typeof one === 'string' ? one || '(empty)' : JSON.stringify(one)}
          </option>
        ))}
      </select>
    )
  }
  if (types.join() === 'string' && (!isSet || typeof value === 'string')) {
    const field = {
      ...described,
      class: 'value',
      placeholder: isSet ? '' : String(schema.default ?? ''),
      value: isSet ? String(value) : '',
      onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onSet(currentTarget.value),
    }
    return schema.editPresentation === 'multilineText' ? (
      <textarea {...field} class="value few" spellcheck={false} />
    ) : (
      <input {...field} spellcheck={false} />
    )
  }
  const fits = (one: unknown) =>
    types.includes(Array.isArray(one) ? 'array' : one === null ? 'null' : typeof one) ||
    (types.includes('integer') && typeof one === 'number')
  /** If a setting also takes text, input that isn't another value is text, without quotation marks. */
  const isText = (text: string) =>
    types.includes('string') && !/^\s*["[{]/.test(text) && !(isJson(text) && fits(JSON.parse(text)))
  const canonical = !isSet ? '' : typeof value === 'string' && isText(value) ? value : JSON.stringify(value)
  const read = (text: string) => {
    if (text.trim() === '') return onRemove()
    if (isText(text)) {
      onDraft(undefined)
      return onSet(text)
    }
    const isFaulty = !isJson(text)
    onDraft(isFaulty || JSON.stringify(JSON.parse(text)) !== text ? text : undefined)
    if (!isFaulty) onSet(JSON.parse(text))
  }
  return (
    <input
      {...described}
      class="value mono"
      spellcheck={false}
      inputMode={isNumber(schema) ? 'decimal' : 'text'}
      placeholder={isSet ? '' : JSON.stringify(schema.default ?? null)}
      value={draft !== undefined && (isFault || same(JSON.parse(draft), value)) ? draft : canonical}
      onInput={(event) => read(event.currentTarget.value)}
    />
  )
}
