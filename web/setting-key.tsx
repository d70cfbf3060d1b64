/** A setting's key. It leads to the setting's page. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Workspace, WorkspaceContext } from './me.js'
import { breakable } from './ui.js'

export const settingAddress = (workspaceId: string | undefined, key: string): string =>
  `/w/${workspaceId}/settings/${encodeURIComponent(key)}`

/** Long keys break before a dot. */
export const KeyText = ({ name }: { name: string }) => <>{breakable(name, /(?=\.)/)}</>

/** In a dialog, keys don't lead elsewhere. */
export const KeysAsText = createContext(false)

export const SettingKey = ({ name }: { name: string }) => {
  const isText = useContext(KeysAsText)
  const workspace: Workspace | undefined = useContext(WorkspaceContext)
  return workspace && !isText ? (
    <a class="mono" href={settingAddress(workspace.id, name)}>
      <KeyText name={name} />
    </a>
  ) : (
    <span class="mono">
      <KeyText name={name} />
    </span>
  )
}

/** Keys in a sentence. */
export const SettingKeys = ({ names }: { names: readonly string[] }) => (
  <>
    {names.map((name, index) => (
      <>
        {index > 0 && ', '}
        <SettingKey key={name} name={name} />
      </>
    ))}
  </>
)
