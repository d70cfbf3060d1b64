import { useId, useState } from 'preact/hooks'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { start } from '../start.js'
import { toast } from '../toast.js'
import { Card, FailureNote, Form } from '../ui.js'

interface Move {
  workspaceId: string
  /** Undefined: the person enters it. */
  from?: string
  to: string
  onMoved: () => void
}

/** For a repository without settings, which may have some under an earlier name. */
export const MoveSettings = ({
  workspaceId,
  name,
  onMoved,
}: {
  workspaceId: string
  name: string
  onMoved: () => void
}) => {
  const [isOpen, open] = useState(false)
  return (
    <Card id="move" title="Renamed repository">
      <p class="muted">
        This repository has no settings of its own. If it had another name, you can move its settings here,
        with all versions.
      </p>
      {isOpen ? (
        <MoveForm {...{ workspaceId, to: name, onMoved }} onCancel={() => open(false)} />
      ) : (
        <div>
          <button type="button" onClick={() => open(true)}>
            Move settings from a renamed repository
          </button>
        </div>
      )}
    </Card>
  )
}

export const MoveForm = ({ workspaceId, from, to, onMoved, onCancel }: Move & { onCancel: () => void }) => {
  const tokenHint = useId()
  const { busy, failure, act } = useAction()
  const submit = async (given: FormData) => {
    const done = await act(() =>
      call('POST /api/team/workspaces/{id}/repos/move', {
        path: { id: workspaceId },
        headers: { 'X-Repohost-Token': String(given.get('token')).trim() },
        body: { from: from ?? String(given.get('from')).trim(), to },
      }),
    )
    if (!done) return
    toast('Settings moved')
    onMoved()
  }
  return (
    <Form class="stack tight" onSubmit={submit}>
      {from === undefined && (
        <label class="field">
          Previous name
          <input
            class="wide-input"
            name="from"
            required
            placeholder="owner/repository"
            autocomplete="off"
            spellcheck={false}
          />
        </label>
      )}
      <label class="field">
        {start.repohost_name} access token
        <input
          class="wide-input"
          type="password"
          name="token"
          required
          maxLength={limits.repohost_token_length}
          autocomplete="off"
          aria-describedby={tokenHint}
        />
      </label>
      <p id={tokenHint} class="small muted">
        It shows that the previous name leads to this repository, and isn’t stored.
      </p>
      {failure && <FailureNote failure={failure} />}
      <div class="row">
        <button type="submit" class="primary" aria-disabled={busy}>
          Move settings
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </Form>
  )
}
