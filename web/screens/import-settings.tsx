/** An editor's `settings.json` becomes pending changes, as `team-settings import` puts it into a file. */
import { useState } from 'preact/hooks'
import { type EditorFile, faultOfKind, readEditorSettings } from '../../client/src/import.js'
import { limits } from '../../schemas/limits.js'
import { importSettings, type LeftOut, OTHER_PREFIX, withImported } from '../../schemas/settings-import.js'
import { bytes, count } from '../format.js'
import { changedKeys, Diff, type Values } from '../json.js'
import { KeysAsText, KeyText } from '../setting-key.js'
import { start } from '../start.js'
import { Dialog, Form } from '../ui.js'
import { faultOfFile } from './configuration-file.js'

export interface Imported {
  name: string
  /** All settings, with the imported ones. */
  settings: Values
  leftOut: LeftOut[]
}

type Source = { name: string; file: EditorFile } | { fault: string }

/** The name of pasted text in messages. */
const PASTED = 'settings.json'

const read = (name: string, content: Uint8Array): Source => {
  if (content.length > limits.body_bytes)
    return { fault: `${name} is larger than ${bytes(limits.body_bytes)}` }
  try {
    const file = readEditorSettings(content, name)
    const fault = faultOfKind(file, start.settings_keys.prefixes)
    return fault === undefined ? { name, file } : { fault: `${name} ${fault}` }
  } catch (error) {
    return { fault: faultOfFile(name, error) }
  }
}

export const ImportSettings = (props: {
  /** The settings to which the imported ones are added. */
  settings: Values
  onImported: (imported: Imported) => void
  onClose: () => void
}) => {
  const { settings, onImported, onClose } = props
  const [text, setText] = useState('')
  const [source, setSource] = useState<Source>()
  const choose = async (chosen: Blob & { name: string }) => {
    setText('')
    // A larger file isn't read at all.
    const content = await chosen.slice(0, limits.body_bytes + 1).arrayBuffer()
    setSource(read(chosen.name, new Uint8Array(content)))
  }
  const result = source && 'file' in source ? resultOf(source.name, source.file, settings) : undefined
  const changes = result ? changedKeys(settings, result.settings).length : 0
  return (
    <Dialog title="Import settings.json" onClose={onClose}>
      <Form class="stack" onSubmit={() => result && changes > 0 && onImported(result)}>
        <p>
          Choose a <span class="mono">settings.json</span>, a <span class="mono">.code-workspace</span> or a{' '}
          <span class="mono">devcontainer.json</span>, or paste its text. Nothing is saved yet: the settings
          become pending changes.
        </p>
        <div class="row">
          <label class="button">
            Choose a file
            <input
              class="away"
              type="file"
              accept=".json,.jsonc,.code-workspace,application/json"
              onChange={({ currentTarget }) => {
                const [chosen] = currentTarget.files ?? []
                if (chosen) void choose(chosen)
                currentTarget.value = ''
              }}
            />
          </label>
        </div>
        <label class="field">
          Text of settings.json
          <textarea
            class="few"
            spellcheck={false}
            value={text}
            onInput={({ currentTarget: { value } }) => {
              setText(value)
              setSource(value === '' ? undefined : read(PASTED, new TextEncoder().encode(value)))
            }}
          />
        </label>
        {source && 'fault' in source && <p role="alert">{source.fault}. Nothing was changed.</p>}
        {result && (
          <div class="stack tight" role="status">
            {changes === 0 ? (
              <p>{result.name} changes no setting.</p>
            ) : (
              <KeysAsText.Provider value>
                <Diff before={settings} after={result.settings} />
              </KeysAsText.Provider>
            )}
          </div>
        )}
        {result && <LeftOutList imported={result} />}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" aria-disabled={changes === 0}>
            Add to pending changes
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

const resultOf = (name: string, file: EditorFile, settings: Values): Imported => {
  const rules = start.settings_keys
  const { changeOf } = file
  const { taken, leftOut } = importSettings(file.settings, { rules, kind: 'workspace', locked: [], changeOf })
  return { name, settings: withImported(settings, taken), leftOut }
}

const MAX_SHOWN = 100

/** The settings of a file that can't be stored, and why. */
export const LeftOutList = ({ imported: { name, leftOut } }: { imported: Imported }) =>
  leftOut.length === 0 ? null : (
    <details open>
      <summary>
        {count(leftOut.length)} {leftOut.length === 1 ? 'setting' : 'settings'} left out of {name}
      </summary>
      <ul>
        {leftOut.slice(0, MAX_SHOWN).map(({ block, key, reason }) => (
          <li key={`${block} ${key}`}>
            <bdi class="mono">
              <KeyText name={block === undefined ? key : `${block} ${key}`} />
            </bdi>{' '}
            {reason}
          </li>
        ))}
      </ul>
      {leftOut.length > MAX_SHOWN && <p class="muted">And {count(leftOut.length - MAX_SHOWN)} more.</p>}
      {leftOut.some(({ reason }) => reason === OTHER_PREFIX) && (
        <p class="muted">
          This server’s prefixes are <span class="mono">{start.settings_keys.prefixes.join(', ')}</span>. Its
          operator can add others.
        </p>
      )}
    </details>
  )
