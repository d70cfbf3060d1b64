/** The promises of the client's types. This file compiles, and each line that must not compile says so. */
import { ApiProblem, type Client, createClient, isProblem, paginate } from '../client/src/index.js'

const isExactly = <Expected>() => ({
  of: <Given extends Expected>(_: Expected extends Given ? Given : never) => {},
})

export const calls = async (client: Client) => {
  const { data } = await client.request('GET /api/me')
  isExactly<'free' | 'pro'>().of(data.plan)
  // @ts-expect-error: no such property
  data.plans
  // @ts-expect-error: no such operation
  client.request('GET /api/nothing')
  // @ts-expect-error: the path has parts to fill
  client.request('GET /api/settings/{owner}/{repo}')
  // @ts-expect-error: and both of them
  client.request('GET /api/settings/{owner}/{repo}', { path: { owner: 'acme' } })
  // @ts-expect-error: misspelled parameters
  client.request('GET /api/projects', { query: { limits: 5 } })
  // @ts-expect-error: the transport asks conditionally by itself
  client.request('GET /api/me', { headers: { 'If-None-Match': '"1"' } })
  const entries = [{ repo: 'a/b', day: '2026-11-21', minutes: '1' }]
  // @ts-expect-error: minutes are a number
  client.request('POST /api/team/active-minutes', { body: { entries } })
  const { data: csv } = await client.request('GET /api/team/dashboard', {
    query: { workspace: '' },
    as: 'text',
  })
  isExactly<string>().of(csv)
  for await (const member of paginate(client, 'GET /api/team/workspaces/{id}/members', {
    path: { id: '' },
  })) {
    isExactly<'admin' | 'member'>().of(member.role)
  }
  // @ts-expect-error: the operation has no pages
  paginate(client, 'GET /api/me')
}

export const problems = (error: unknown) => {
  if (error instanceof ApiProblem) {
    isExactly<number | undefined>().of(error.retryAfter)
    // @ts-expect-error: only some codes have it
    error.suggested_pattern
    if (error.code === 'workspace_required') isExactly<string>().of(error.suggested_pattern)
    if (error.code === 'settings_too_large') isExactly<number>().of(error.limit_bytes)
    if (error.code === 'unexpected_answer') isExactly<number>().of(error.status)
  }
  if (isProblem(error, 'PUT /api/settings/{owner}/{repo}')) {
    if (error.code === 'workspace_required') isExactly<409>().of(error.status)
    if (error.code === 'version_conflict') isExactly<number | null>().of(error.current_version)
    // @ts-expect-error: no push returns this code
    if (error.code === 'invite_expired') return
    // @ts-expect-error: a property of another code
    if (error.code === 'version_conflict') error.suggested_pattern
  }
}

// @ts-expect-error: `baseUrl` is required
createClient({ token: '' })
