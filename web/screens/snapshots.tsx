import { useEffect, useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import { repoSettingsAddress } from '../addresses.js'
import { call, useRead } from '../api.js'
import { bytes, time } from '../format.js'
import { History } from '../history.js'
import { textOf } from '../json.js'
import { useMe } from '../me.js'
import { useUrlQuery } from '../query.js'
import { useTitle } from '../title.js'
import { Card, Confirm, Loaded, Skeleton } from '../ui.js'

/** The old address of a repository's pushed settings. It leads to the repository's page, if the person has access. */
export const Snapshots = () => {
  const { params } = useRoute()
  const { workspaces } = useMe()
  const { query } = useUrlQuery()
  const { route } = useLocation()
  const [owner, repo] = [params.owner ?? '', params.repo ?? '']
  useTitle(`${owner}/${repo} settings`)
  const { workspace: chosen, ...rest } = query
  const response = useRead('GET /api/settings/{owner}/{repo}', {
    path: { owner, repo },
    query: chosen ? { workspace: chosen } : {},
  })
  const id = workspaces.find((one) => one.id === response.data?.workspace_id)?.id
  useEffect(() => {
    const versions = Object.entries(rest).flatMap(([name, value]) =>
      value ? [[`pushed-${name}`, value]] : [],
    )
    if (id) route(`${repoSettingsAddress(id, { owner, repo })}?${new URLSearchParams(versions)}`, true)
  }, [id])
  if (id) return <Skeleton height={600} />
  return (
    <>
      <h1>
        <bdi>
          {owner}/{repo}
        </bdi>{' '}
        settings
      </h1>
      <PushedSettings owner={owner} repo={repo} workspaceId={chosen} />
    </>
  )
}

/** The settings that were pushed with the repository, and their versions. */
export const PushedSettings = (props: { owner: string; repo: string; workspaceId: string | undefined }) => {
  const { owner, repo, workspaceId } = props
  const { workspaces } = useMe()
  const [removing, remove] = useState(false)
  const path = { owner, repo }
  const choice = workspaceId ? { workspace: workspaceId } : {}
  const current = useRead('GET /api/settings/{owner}/{repo}', { path, query: choice })
  const versions = useRead(
    'GET /api/settings/{owner}/{repo}/versions',
    current.data && { path, query: choice },
  )
  const workspace = workspaces.find(({ id }) => id === current.data?.workspace_id)
  const isAdmin = workspace?.role === 'admin'
  return (
    <>
      <Loaded response={current} height={420}>
        {(data) => (
          <>
            <Card id="pushed" title="Pushed settings">
              <p class="muted">
                Version {data.version} by <bdi>{data.updated_by}</bdi>, {time(data.updated_at)},{' '}
                {bytes(data.size_bytes)}
              </p>
              <p>A saved copy. It doesn’t change what the team’s editors use.</p>
              <pre class="diff">{textOf(data.settings)}</pre>
              {isAdmin && (
                <div>
                  <button type="button" class="danger" onClick={() => remove(true)}>
                    Delete pushed settings
                  </button>
                </div>
              )}
            </Card>
            <History
              title="Pushed versions"
              prefix="pushed-"
              versions={versions}
              useVersion={(version) =>
                useRead(
                  'GET /api/settings/{owner}/{repo}/versions/{version}',
                  version === undefined ? undefined : { path: { ...path, version }, query: choice },
                )
              }
              mayRestore={isAdmin}
              restore={async (body, etag = current.etag) => {
                const answer = await call('POST /api/settings/{owner}/{repo}/restore', {
                  path,
                  query: choice,
                  headers: { 'If-Match': etag },
                  body,
                })
                current.again()
                versions.again()
                return answer
              }}
              effect="Editors get these settings with their next pull."
            />
          </>
        )}
      </Loaded>
      {removing && (
        <Confirm
          title={`Delete ${owner}/${repo} settings?`}
          action="Delete settings"
          word={`${owner}/${repo}`}
          onClose={() => remove(false)}
          onYes={async () => {
            await call('DELETE /api/settings/{owner}/{repo}', { path, query: choice })
            location.assign(workspace ? `/w/${workspace.id}/repos` : '/')
          }}
        >
          <p>This deletes all versions. You can’t undo this. The next push starts again at version 1.</p>
        </Confirm>
      )}
    </>
  )
}
