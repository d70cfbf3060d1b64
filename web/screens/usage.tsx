/** Limits, and how much of each is used. */
import { limits as documented } from '../../schemas/limits.js'
import { useRead } from '../api.js'
import { bytes, count } from '../format.js'
import { sizeOf } from '../json.js'
import { useMe, type Workspace } from '../me.js'
import { useTitle } from '../title.js'
import { FailureOf, Loaded, Measure } from '../ui.js'

interface Used {
  name: string
  /** Undefined while it loads. */
  used: number | undefined
  limit: number
  write?: (value: number) => string
  href?: string
}

/** Above this share the page suggests to make room. */
const NEARLY = 0.8

export const Usage = () => {
  useTitle('Usage')
  const { workspaces } = useMe()
  return (
    <div class="stack narrow">
      <h1>Usage</h1>
      <Mine />
      {workspaces.slice(0, LISTED).map((workspace) => (
        <OfWorkspace key={workspace.id} workspace={workspace} />
      ))}
      {workspaces.length > LISTED && (
        <p class="muted">
          The first {LISTED} of your {count(workspaces.length)} workspaces are shown.
        </p>
      )}
      <Rates />
    </div>
  )
}

const LISTED = 10

const Mine = () => {
  const { workspaces } = useMe()
  const keys = useRead('GET /api/me/keys', {})
  const projects = useRead('GET /api/me/editor-projects', {})
  const recording = useRead('GET /api/me/recording', {})
  const waiting = projects.data?.projects.filter(({ state }) => state === 'waiting').length
  const chosen = projects.data?.projects.filter(
    ({ state }) => state === 'assigned' || state === 'ignored',
  ).length
  return (
    <section class="card stack tight" aria-labelledby="mine">
      <h2 id="mine">My account</h2>
      <FailureOf asked={[keys, projects, recording]} />
      <UsedTable
        caption="My account"
        rows={[
          {
            name: 'Workspaces',
            used: workspaces.length,
            limit: documented.workspaces_joined,
            href: '/account/workspaces',
          },
          {
            name: 'Access keys',
            used: keys.data?.keys.length,
            limit: documented.keys_per_owner,
            href: '/account/keys',
          },
          {
            name: 'Project names that wait for a repository',
            used: waiting,
            limit: documented.editor_projects_waiting,
            href: '/account/editors',
          },
          {
            name: 'Project names with a repository, or ignored',
            used: chosen,
            limit: documented.editor_projects_chosen,
            href: '/account/editors',
          },
          {
            name: 'Repositories that are never recorded',
            used: recording.data?.repos_off.length,
            limit: documented.recording_repos_off,
            href: '/account/privacy',
          },
        ]}
      />
    </section>
  )
}

const OfWorkspace = ({ workspace }: { workspace: Workspace }) => {
  const { id, name, role, patterns } = workspace
  const isAdmin = role === 'admin'
  const settings = useRead('GET /api/team/workspaces/{id}/settings', { path: { id } })
  const keys = useRead('GET /api/team/workspaces/{id}/keys', isAdmin ? { path: { id } } : undefined)
  return (
    <section class="card stack tight" aria-labelledby={`usage-${id}`}>
      <h2 id={`usage-${id}`}>
        <bdi>{name}</bdi>
      </h2>
      <FailureOf asked={[settings, keys]} />
      <UsedTable
        caption={name}
        rows={[
          {
            name: 'Repository patterns',
            used: patterns.length,
            limit: documented.patterns_per_workspace,
            href: `/w/${id}/repos`,
          },
          {
            name: 'Workspace settings',
            used: settings.data && sizeOf(settings.data.settings),
            limit: documented.settings_bytes,
            write: bytes,
            href: `/w/${id}/settings`,
          },
          ...(isAdmin
            ? [
                {
                  name: 'Access keys of the workspace',
                  used: keys.data?.keys.length,
                  limit: documented.keys_per_owner,
                  href: `/w/${id}/settings/keys`,
                },
              ]
            : []),
        ]}
      />
    </section>
  )
}

const UsedTable = ({ caption, rows }: { caption: string; rows: Used[] }) => (
  <div class="scroll">
    <table>
      <caption class="away">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Limit</th>
          <th scope="col" class="n">
            Used
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, used, limit, write = count, href }) => (
          <tr key={name}>
            <th scope="row">{href ? <a href={href}>{name}</a> : name}</th>
            <td class="n">
              <Measure part={(used ?? 0) / limit} tone="track">
                {used === undefined ? '…' : write(used)} of {write(limit)}
              </Measure>
              {used !== undefined && used >= limit * NEARLY && (
                <span class="small">{used >= limit ? 'Full' : 'Nearly full'}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

/** The operator can change these, so the service is asked. */
const Rates = () => {
  const asked = useRead('GET /api/limits', {})
  return (
    <section class="card stack tight" aria-labelledby="rates">
      <h2 id="rates">Request limits</h2>
      <p class="muted">
        A call above a limit fails with “Too many requests” and says how long to wait. The API reference
        describes <a href="/api/docs/limits">all limits</a>.
      </p>
      <Loaded asked={asked} height={160}>
        {(limits) => (
          <div class="scroll">
            <table>
              <caption class="away">Request limits</caption>
              <thead>
                <tr>
                  <th scope="col">Requests</th>
                  <th scope="col" class="n">
                    Limit
                  </th>
                </tr>
              </thead>
              <tbody>
                {(
                  [
                    ['All my requests, per minute', limits.rate_per_caller],
                    ['My concurrent requests', limits.requests_at_once_per_caller],
                    ['Joins and invite lookups, per minute', limits.rate_join_per_caller],
                    ['Exports of my data, per hour', limits.exports_per_hour],
                    ['Sign-ins from my network, per minute', limits.rate_verify_per_address],
                  ] as const
                ).map(([name, limit]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td class="n">{count(limit)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </section>
  )
}
