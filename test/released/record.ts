/** The record of a release: its people, and its responses. */
export const ADMIN_KEY = 'an-admin-key-of-a-release'

export interface Person {
  /** At the repository host. */
  id: number
  token: string
}

interface Read {
  status: number
  body: unknown
}

export interface StoredResponse extends Read {
  login: string
  path: string
}

export interface ReleaseRecord {
  people: Record<string, Person>
  invite: { workspace: string; code: string }
  flush: { login: string; body: object; answer: object }
  answers: StoredResponse[]
}

/** The parts of a response that don't change with time: without texts of errors, and without the time. */
export const readStable = async (url: string, token: string | undefined, path: string): Promise<Read> => {
  // The first releases know spreadsheets by this header alone.
  const headers = path.includes('format=csv') ? { Accept: 'text/csv' } : {}
  const { status, body } = await ask(url, token, 'GET', path, undefined, headers)
  if (typeof body !== 'object' || body === null) return { status, body }
  const { code, generated_at, exported_at, ...lasting } = body as Record<string, unknown>
  return { status, body: code === undefined ? lasting : { code } }
}

export const ask = async (
  url: string,
  token: string | undefined,
  method: string,
  path: string,
  body?: object,
  headers: object = {},
) => {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: {
      ...(token === undefined ? { 'X-Service-Admin-Key': ADMIN_KEY } : { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, body: (isJson ? JSON.parse(text) : text) as unknown }
}
