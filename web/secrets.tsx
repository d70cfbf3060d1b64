/** Asks before values that look like secrets are saved. */
import { useState } from 'preact/hooks'
import { looksSecret } from '../schemas/secrets.js'
import { isBlock, isObject, settingsIn } from '../schemas/settings-keys.js'
import { same, type Values } from './json.js'
import { Confirm } from './ui.js'

/** New and changed settings that look like secrets. */
const secretsIn = (before: Values, after: Values): string[] =>
  [...settingsIn(after)].flatMap(({ block, key, value }) => {
    const old = block === undefined ? before : before[block]
    const isOld = isObject(old) && same(old[key], value)
    if (isOld || isBlock(key) || !looksSecret(key, value)) return []
    return block === undefined ? key : `${block} ${key}`
  })

/** A dialog for outside of the form, and a function that saves at once if there's nothing to ask. */
export const useSecretQuestion = () => {
  const [question, ask] = useState<{ keys: string[]; save: () => unknown }>()
  const saveOrAsk = (before: Values, after: Values, save: () => unknown) => {
    const keys = secretsIn(before, after)
    if (keys.length > 0) ask({ keys, save })
    else void save()
  }
  const dialog = question && (
    <Confirm
      title="Save what looks like a password?"
      action="Save anyway"
      onYes={question.save}
      onClose={() => ask(undefined)}
    >
      <p>Everyone in the workspace can read these settings, and the history keeps them:</p>
      <ul>
        {question.keys.map((key) => (
          <li key={key} class="mono">
            {key}
          </li>
        ))}
      </ul>
    </Confirm>
  )
  return { dialog, saveOrAsk }
}
