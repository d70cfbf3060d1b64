/** An editor for settings: a form if the service has a schema, and JSON. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ANY_PREFIX, settingsKeys } from '../schemas/settings-keys.js'
import { commonSchema } from './common-settings.js'
import { count } from './format.js'
import { FaultList, faultsOf, JsonField, parse, textOf, type Values } from './json.js'
import { propertiesOf, type Schema, useSchema } from './schema.js'
import { SettingKey } from './setting-key.js'
import { isJson, LockToggle, SettingsForm } from './settings-form.js'
import { start } from './start.js'
import { Choices, Loaded } from './ui.js'

/** Text that isn't saved yet. */
export interface Editing {
  text: string
  /** Input in the form that isn't a value yet, by key. */
  drafts: Record<string, string>
}

export const editingOf = (values: Values): Editing => ({ text: textOf(values), drafts: {} })

interface Rules {
  allowNull?: boolean
  locked?: readonly string[]
}

/** The field whose input isn't a value. */
const faultyField = ({ drafts }: Editing): string | undefined =>
  Object.keys(drafts).find((key) => !isJson(drafts[key] ?? ''))

/** The settings as they would be saved. `undefined` if they can't be. */
export const readEditing = (editing: Editing, rules: Rules): Values | undefined => {
  const parsed = parse(editing.text, rules)
  return 'values' in parsed && faultyField(editing) === undefined ? parsed.values : undefined
}

/** Names the field that prevents saving, which a search may have hidden. */
export const FaultyField = ({ editing }: { editing: Editing }) => {
  const key = faultyField(editing)
  return key === undefined ? null : (
    <p>
      Enter a valid value for <SettingKey name={key} />.
    </p>
  )
}

const keys = settingsKeys(start.settings_keys)

/** The settings that most teams share, if the operator has listed their prefixes. */
const offered = keys.prefixes.length === 1 ? undefined : commonSchema(keys.hasPrefix)

/** A schema with the settings that most teams share beside its own. */
const withOffered = (schema: Schema): Schema => {
  if (!offered) return schema
  const [group] = offered['x-groups']
  const properties = (group?.properties ?? []).filter((key) => !(key in propertiesOf(schema)))
  return {
    ...schema,
    properties: { ...offered.properties, ...schema.properties },
    'x-groups': [...schema['x-groups'], { title: group?.title ?? null, properties }],
  }
}

/** The schema with what's offered beside it, or what's offered without one. */
export const useDescribed = () => {
  const schema = useSchema()
  return { schema, described: schema.data ? withOffered(schema.data) : offered }
}

export const SettingsEditor = (props: {
  label: string
  editing: Editing
  onEdit: (change: Partial<Editing>) => void
  /** The workspace's locked keys. */
  locked: readonly string[]
  /** Changes the locks. Without it, this is an override, which can't contain locked keys. */
  onLock?: (locked: string[]) => void
  /** The workspace's values, if this is an override. */
  general?: Values
  /** What's wrong with stored values, by key. */
  wrong?: ReadonlyMap<string, string>
  children?: ComponentChildren
}) => {
  const { label, editing, onEdit, locked, onLock, general, wrong = [], children } = props
  const { schema, described } = useDescribed()
  const [tab, choose] = useState<'form' | 'json'>('form')
  const rules = onLock ? {} : { allowNull: true, locked }
  const parsed = parse(editing.text, onLock ? {} : { allowNull: true })
  const values = 'values' in parsed ? parsed.values : undefined
  const faults = faultsOf(editing.text, rules)
  const field = (
    <JsonField
      label={`${label} (JSON)`}
      text={editing.text}
      faults={faults}
      properties={propertiesOf(described)}
      onType={(text) => onEdit({ text })}
    >
      {children}
    </JsonField>
  )
  const locks = onLock && values && <Locks {...{ values, locked, onLock }} />
  const form = (described: Schema) => (
    <div class="stack tight">
      <div>
        <Choices
          label="Editor"
          value={tab}
          options={[
            ['form', 'Form'],
            ['json', 'JSON'],
          ]}
          onChoose={choose}
        />
      </div>
      {tab === 'json' ? (
        <>
          {field}
          {locks}
        </>
      ) : values ? (
        <>
          <SettingsForm
            schema={described}
            isOffer={schema.isNone}
            values={values}
            onChange={(values) => onEdit({ text: textOf(values) })}
            locked={locked}
            onLock={onLock}
            general={general}
            wrong={new Map([...wrong, ...faults.map(({ key = '', message }) => [key, message] as const)])}
            drafts={editing.drafts}
            onDraft={(key, text) => {
              const { [key]: _, ...rest } = editing.drafts
              onEdit({ drafts: text === undefined ? rest : { ...rest, [key]: text } })
            }}
          />
          <FaultList faults={faults}>{children}</FaultList>
        </>
      ) : (
        <p>{'error' in parsed && parsed.error} Fix the JSON to use the form.</p>
      )}
    </div>
  )
  if (!schema.isNone)
    return (
      <Loaded response={schema} height={480}>
        {() => described && form(described)}
      </Loaded>
    )
  return (
    <>
      {onLock && values && Object.keys(values).length === 0 && (
        <p>Set what every member’s editor should share, and save. You can change or restore it later.</p>
      )}
      <Prefixes />
      {offered ? (
        form(offered)
      ) : (
        <>
          {field}
          {locks}
        </>
      )}
    </>
  )
}

/** Names the prefixes, because no schema shows which keys there are. */
const Prefixes = () => {
  const { prefixes } = keys
  if (prefixes.at(-1) === ANY_PREFIX) return <p class="small muted">Keys start with a prefix and a dot.</p>
  return (
    <p class="small muted">
      {prefixes.length === 1 ? 'Keys start with' : 'Keys start with one of this server’s prefixes,'}{' '}
      <span class="mono">{prefixes.join(', ')}</span>, and a dot. To share others, ask the person who runs
      this server to add their prefix to <span class="mono">EXTENSION_PREFIX</span>.
    </p>
  )
}

const STEP = 50

/** A lock for each key, for the JSON editor. */
const Locks = (props: { values: Values; locked: readonly string[]; onLock: (locked: string[]) => void }) => {
  const { values, locked, onLock } = props
  const [shown, show] = useState(STEP)
  const keys = Object.keys(values)
  return (
    <details open={locked.length > 0}>
      <summary>
        Locked keys ({count(keys.filter((key) => locked.includes(key)).length)} of {count(keys.length)})
      </summary>
      {keys.length === 0 && <p class="muted">No keys. Add a setting to lock it.</p>}
      <ul class="stack tight">
        {keys.slice(0, shown).map((key) => (
          <li key={key} class="row apart">
            <SettingKey name={key} />
            <LockToggle
              name={key}
              isLocked={locked.includes(key)}
              mayLock
              onLock={(isOn) => onLock(isOn ? [...locked, key] : locked.filter((one) => one !== key))}
            />
          </li>
        ))}
      </ul>
      {keys.length > shown && (
        <button type="button" onClick={() => show(shown + STEP)}>
          Show more ({count(shown)} of {count(keys.length)})
        </button>
      )}
    </details>
  )
}
