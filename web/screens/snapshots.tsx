import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { repoAddress } from '../addresses.js'
import { call, useAction, useRead } from '../api.js'
import { bytes, time } from '../format.js'
import { History } from '../history.js'
import { textOf } from '../json.js'
import { useMe } from '../me.js'
import { useUrlQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Confirm, Loaded } from '../ui.js'

export const Snapshots = () => {
  const { params } = useRoute()
  const { workspaces } = useMe()
  const { query } = useUrlQuery()
  const [owner, repo] = [params.owner ?? '', params.repo ?? '']
  const [removing, remove] = useState(false)
  const { busy, failure, act, clear } = useAction()
  useTitle(`${owner}/${repo} settings`)
  const path = { owner, repo }
  const choice = query.workspace ? { workspace: query.workspace } : {}
  const current = useRead('GET /api/settings/{owner}/{repo}', { path, query: choice })
  const versions = useRead(
    'GET /api/settings/{owner}/{repo}/versions',
    current.data && { path, query: choice },
  )
  const workspace = workspaces.find(({ id }) => id === current.data?.workspace_id)
  const isAdmin = workspace?.role === 'admin'
  return (
    <>
      <h1>
        <bdi>
          {owner}/{repo}
        </bdi>{' '}
        settings
      </h1>
      <Loaded asked={current} height={420}>
        {(data) => (
          <>
            <p class="muted">
              Version {data.version} by <bdi>{data.updated_by}</bdi>, {time(data.updated_at)},{' '}
              {bytes(data.size_bytes)}
              {workspace && (
                <>
                  , in{' '}
                  <a href={repoAddress(workspace.id, { owner, repo })}>
                    <bdi>{workspace.name}</bdi>
                  </a>
                </>
              )}
            </p>
            <History
              versions={versions}
              useVersion={(version) =>
                useRead(
                  'GET /api/settings/{owner}/{repo}/versions/{version}',
                  version === undefined ? undefined : { path: { ...path, version }, query: choice },
                )
              }
              mayRestore={isAdmin}
              restore={async (version) => {
                const { data } = await call('POST /api/settings/{owner}/{repo}/restore', {
                  path,
                  query: choice,
                  body: { version },
                })
                current.again()
                versions.again()
                return data
              }}
              effect="Editors get these settings with their next pull."
            />
            <section class="card stack tight" aria-labelledby="current">
              <h2 id="current">Current settings</h2>
              <pre class="diff">{textOf(data.settings)}</pre>
            </section>
            {isAdmin && (
              <div>
                <button
                  type="button"
                  class="danger"
                  onClick={() => {
                    clear()
                    remove(true)
                  }}
                >
                  Delete settings
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
      {removing && (
        <Confirm
          title={`Delete ${owner}/${repo} settings?`}
          action="Delete settings"
          word={`${owner}/${repo}`}
          busy={busy}
          failure={failure}
          onNo={() => remove(false)}
          onYes={async () => {
            const done = await act(() => call('DELETE /api/settings/{owner}/{repo}', { path, query: choice }))
            if (done) location.assign(workspace ? `/w/${workspace.id}/repos` : '/')
          }}
        >
          <p>This deletes all versions. You cannot undo this. The next push starts again at version 1.</p>
        </Confirm>
      )}
    </>
  )
}
