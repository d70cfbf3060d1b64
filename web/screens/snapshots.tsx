import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { announce } from '../announce.js'
import { call, useAct, useAsk } from '../api.js'
import { bytes, time } from '../format.js'
import { Diff, textOf } from '../json.js'
import { useMe } from '../me.js'
import { useQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Confirm, FailureNote, Shown } from '../ui.js'

export const Snapshots = () => {
  const { params } = useRoute()
  const { workspaces } = useMe()
  const { query, change } = useQuery()
  const [owner, repo] = [params.owner ?? '', params.repo ?? '']
  const [removing, remove] = useState(false)
  const { busy, failure, act, clear } = useAct()
  useTitle(`${owner}/${repo} settings`)
  const path = { owner, repo }
  const workspace = query.workspace ? { workspace: query.workspace } : {}
  const current = useAsk('GET /api/settings/{owner}/{repo}', { path, query: workspace })
  const versions = useAsk(
    'GET /api/settings/{owner}/{repo}/versions',
    current.data && { path, query: workspace },
  )
  const list = versions.data?.versions ?? []
  // By default, the current version is compared with the previous one.
  const newer = Number(query.newer) || list[0]?.version
  const older = Number(query.older) || list[1]?.version
  const space = workspaces.find(({ id }) => id === current.data?.workspace_id)
  const isAdmin = space?.role === 'admin'

  const restore = (version: number) =>
    act(async () => {
      await call('POST /api/settings/{owner}/{repo}/restore', { path, query: workspace, body: { version } })
      announce(`Version ${version} restored`)
      change({ newer: undefined, older: undefined })
      current.again()
      versions.again()
    })
  return (
    <>
      <h1>
        <bdi>
          {owner}/{repo}
        </bdi>{' '}
        settings
      </h1>
      <Shown asked={current} height={420}>
        {(data) => (
          <>
            <p class="muted">
              Version {data.version} by <bdi>{data.updated_by}</bdi>, {time(data.updated_at)},{' '}
              {bytes(data.size_bytes)}
              {space && (
                <>
                  , in{' '}
                  <a href={`/w/${space.id}/repos`}>
                    <bdi>{space.name}</bdi>
                  </a>
                </>
              )}
            </p>
            {failure && !removing && <FailureNote failure={failure} />}
            <div class="two">
              <section class="card stack tight" aria-labelledby="versions">
                <h2 id="versions">Versions</h2>
                <Shown asked={versions} height={200}>
                  {({ versions }) => (
                    <div class="scroll">
                      <table>
                        <caption class="away">Versions, newest first</caption>
                        <thead>
                          <tr>
                            <th scope="col">Version</th>
                            <th scope="col">Created</th>
                            <th scope="col">From, to</th>
                          </tr>
                        </thead>
                        <tbody>
                          {versions.map(({ version, created_at, created_by }, index) => (
                            <tr key={version}>
                              <th scope="row">
                                {version} {index === 0 && <span class="tag">current</span>}
                                {index > 0 && isAdmin && (
                                  <button
                                    type="button"
                                    class="plain act"
                                    aria-disabled={busy}
                                    onClick={() => restore(version)}
                                  >
                                    Restore<span class="away"> version {version}</span>
                                  </button>
                                )}
                              </th>
                              <td>
                                {time(created_at)}, <bdi>{created_by}</bdi>
                              </td>
                              <td>
                                <div class="row">
                                  {(['older', 'newer'] as const).map((side) => (
                                    <label key={side} class="tap">
                                      <input
                                        type="radio"
                                        name={side}
                                        aria-label={`${side === 'older' ? 'From' : 'To'} version ${version}`}
                                        checked={(side === 'older' ? older : newer) === version}
                                        onChange={() => change({ [side]: String(version) })}
                                      />
                                    </label>
                                  ))}
                                </div>
                              </td>
                            </tr>
                          ))}
                        </tbody>
                      </table>
                    </div>
                  )}
                </Shown>
              </section>
              <section class="card stack tight" aria-labelledby="difference">
                <h2 id="difference">
                  {older ? `Changes from version ${older} to ${newer}` : 'Current settings'}
                </h2>
                {older && newer ? (
                  <Difference
                    key={`${older} ${newer}`}
                    path={path}
                    query={workspace}
                    older={older}
                    newer={newer}
                  />
                ) : (
                  <pre class="diff">{textOf(data.settings)}</pre>
                )}
                <details>
                  <summary>View current version</summary>
                  <pre class="diff">{textOf(data.settings)}</pre>
                </details>
              </section>
            </div>
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
      </Shown>
      {removing && (
        <Confirm
          title={`Delete ${owner}/${repo} settings?`}
          action="Delete settings"
          word={`${owner}/${repo}`}
          busy={busy}
          failure={failure}
          onNo={() => remove(false)}
          onYes={async () => {
            const done = await act(() =>
              call('DELETE /api/settings/{owner}/{repo}', { path, query: workspace }),
            )
            if (done) location.assign(space ? `/w/${space.id}/repos` : '/')
          }}
        >
          <p>This deletes all versions. You cannot undo this. The next push starts again at version 1.</p>
        </Confirm>
      )}
    </>
  )
}

const Difference = (props: {
  path: { owner: string; repo: string }
  query: { workspace?: string }
  older: number
  newer: number
}) => {
  const { path, query } = props
  const of = (version: number) => ({ path: { ...path, version }, query })
  const before = useAsk('GET /api/settings/{owner}/{repo}/versions/{version}', of(props.older))
  const after = useAsk('GET /api/settings/{owner}/{repo}/versions/{version}', of(props.newer))
  return (
    <Shown asked={before} height={120}>
      {(older) => (
        <Shown asked={after} height={120}>
          {(newer) => <Diff before={older.settings} after={newer.settings} />}
        </Shown>
      )}
    </Shown>
  )
}
