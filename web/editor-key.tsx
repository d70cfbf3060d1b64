/** Creates an editor key, and shows the lines that the WakaTime plugin needs. */
import { useState } from 'preact/hooks'
import { announce } from './announce.js'
import { call, useAction } from './api.js'
import { Snippet, wakatimeConfig } from './snippets.js'
import { FailureNote } from './ui.js'

export const EditorKey = () => {
  const { busy, failure, act } = useAction()
  const [secret, show] = useState<string>()
  const create = () =>
    act(async () => {
      const { data } = await call('POST /api/me/keys', {
        body: { name: 'Editor', scopes: ['activity:write'] },
      })
      show(data.secret)
      announce('Editor key created')
    })
  return (
    <>
      {secret ? (
        <>
          <p>Copy the lines now. The service doesn’t store the key and can’t show it again.</p>
          <Snippet title=".wakatime.cfg" text={wakatimeConfig(secret)} />
        </>
      ) : (
        <div class="row">
          <button type="button" class="primary" aria-disabled={busy} onClick={create}>
            Create editor key
          </button>
        </div>
      )}
      {failure && <FailureNote failure={failure} />}
      <p class="small muted">
        The key can only send activity and read today’s time. It expires after 1 year. To revoke it, open{' '}
        <a href="/account/editors#keys">My access keys</a>.
      </p>
    </>
  )
}
