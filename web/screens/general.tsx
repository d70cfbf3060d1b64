/** A workspace's name, patterns and deletion. Only for admins. */
import { useState } from 'preact/hooks'
import { limits } from '../../schemas/limits.js'
import { call, useAction } from '../api.js'
import { people } from '../format.js'
import { readWorkspace, useMe, useWorkspace } from '../me.js'
import { Patterns } from '../patterns.js'
import { toast } from '../toast.js'
import { Card, Confirm, FailureNote, Form } from '../ui.js'
import { requireUnchanged } from '../undo.js'

export const General = () => (
  <div class="two">
    <Patterns />
    <div class="stack">
      <Rename />
      <DeleteSpace />
    </div>
  </div>
)

const Rename = () => {
  const workspace = useWorkspace()
  const me = useMe()
  const [name, type] = useState(workspace.name)
  const { busy, failure, act } = useAction()
  const rename = async (name: string) => {
    const { data } = await call('PATCH /api/team/workspaces/{id}', {
      path: { id: workspace.id },
      body: { name },
    })
    me.again()
    return data.name
  }
  return (
    <Card id="rename" title="Name">
      <Form
        class="row"
        onSubmit={() => {
          const before = workspace.name
          act(async () => {
            const saved = await rename(name)
            toast('Workspace renamed', async () => {
              const now = await readWorkspace(workspace.id)
              if (now) type(now.name)
              me.again()
              requireUnchanged(now?.name === saved)
              await rename(before)
              type(before)
            })
          })
        }}
      >
        <input
          class="grow"
          aria-label="Workspace name"
          required
          maxLength={limits.workspace_name_length}
          value={name}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <button type="submit" aria-disabled={busy || name === workspace.name}>
          Rename workspace
        </button>
      </Form>
      {failure && <FailureNote failure={failure} />}
    </Card>
  )
}

const DeleteSpace = () => {
  const workspace = useWorkspace()
  const [asking, ask] = useState(false)
  return (
    <Card id="delete" title="Deletion">
      <p class="muted">Deletes all settings, overrides, activity and the audit trail for all members.</p>
      <div>
        <button type="button" class="danger" onClick={() => ask(true)}>
          Delete workspace
        </button>
      </div>
      {asking && (
        <Confirm
          title={`Delete ${workspace.name}?`}
          action="Delete workspace"
          word={workspace.name}
          onClose={() => ask(false)}
          onYes={async () => {
            await call('DELETE /api/team/workspaces/{id}', { path: { id: workspace.id } })
            location.assign('/')
          }}
        >
          <p>
            This deletes the workspace and all its data for {people(workspace.member_count)}. You can’t undo
            this.
          </p>
        </Confirm>
      )}
    </Card>
  )
}
