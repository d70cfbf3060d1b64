/**
 * Code samples of each operation with curl, the client, and Python. `SERVICE`, `TOKEN` and other secrets come from the
 * environment; the rest are the document's examples. The reference runs this file in the browser, too, with what the
 * reader enters, so it imports nothing.
 */

interface Parameter {
  name: string
  in: string
  required?: boolean
  example?: unknown
}

export interface SampledOperation {
  parameters?: Parameter[]
  security?: Record<string, unknown>[]
  requestBody?: { required?: boolean; content: Record<string, { example?: unknown }> }
  responses: Record<string, { content?: object }>
}

interface Call {
  method: string
  /** The path with `{parameters}`. */
  template: string
  path: Record<string, unknown>
  query: Record<string, unknown>
  /** Values that begin with `$` are names of environment variables. */
  headers: Record<string, string>
  body: unknown
  /** The client sends it automatically. */
  authorization: Record<string, string>
  /** The signature covers the exact bytes of the body. */
  signed: boolean
  /** Whether it redirects the browser. */
  redirects: boolean
  /** Returns an archive. */
  downloads: boolean
}

const secrets = new Map([
  ['X-Repohost-Token', '$REPOHOST_TOKEN'],
  ['X-Service-Admin-Key', '$ADMIN_KEY'],
  ['Billing-Signature', '$SIGNATURE'],
])

const callOf = (method: string, template: string, operation: SampledOperation): Call => {
  const { parameters = [], security = [], requestBody } = operation
  const required = (part: string) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === part && parameter.required)
        .map(({ name, example }) => [name, example ?? 'example']),
    )
  const needs = (scheme: string) => security.length > 0 && scheme in (security[0] ?? {})
  const headers: Record<string, string> = {}
  for (const [name, example] of Object.entries(required('header')))
    headers[name] = secrets.get(name) ?? String(example)
  if (needs('adminKey')) headers['X-Service-Admin-Key'] = '$ADMIN_KEY'
  if (needs('billingSignature')) headers['Billing-Signature'] = '$SIGNATURE'
  const body = requestBody?.content['application/json']?.example
  // An empty object needs no argument.
  const isNothing = JSON.stringify(body) === '{}' && !requestBody?.required
  return {
    method: method.toUpperCase(),
    template,
    path: required('path'),
    query: required('query'),
    headers,
    body: isNothing ? undefined : body,
    authorization: needs('bearer') ? { Authorization: 'Bearer $TOKEN' } : {},
    signed: needs('billingSignature'),
    redirects: '302' in operation.responses,
    downloads: 'application/gzip' in (operation.responses['200']?.content ?? {}),
  }
}

const addressOf = ({ template, path, query }: Call) => {
  const search = new URLSearchParams(query as Record<string, string>).toString().replaceAll('%2F', '/')
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  return search ? `${filled}?${search}` : filled
}

/** Escaped for double quotes in a shell. Variables stay. */
const escapeForShell = (value: string) =>
  /^(Bearer )?\$\w+$/.test(value) ? value : value.replace(/["\\$`]/g, '\\$&')

const curlOf = (call: Call) => {
  const { method, headers, authorization, body, downloads } = call
  const given = Object.entries({ ...authorization, ...headers })
  const json = body === undefined ? undefined : JSON.stringify(body).replaceAll("'", "'\\''")
  return [
    `curl ${downloads ? '-O ' : ''}${method === (json ? 'POST' : 'GET') ? '' : `-X ${method} `}"$SERVICE${addressOf(call)}"`,
    ...given.map(([name, value]) => `-H "${name}: ${escapeForShell(value)}"`),
    ...(json ? ["-H 'Content-Type: application/json'", `-d '${json}'`] : []),
  ].join(' \\\n  ')
}

/** A value in JavaScript or Python notation. */
const written = (value: unknown, language: 'JavaScript' | 'Python'): string => {
  const isPython = language === 'Python'
  if (typeof value === 'string') {
    const variable = /^\$(\w+)$/.exec(value)?.[1]
    if (variable) return isPython ? `os.environ["${variable}"]` : `process.env.${variable}`
    return isPython ? JSON.stringify(value) : `'${value.replace(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`
  }
  if (Array.isArray(value)) return `[${value.map((item) => written(item, language)).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const properties = Object.entries(value).map(([name, property]) => {
      const isName = !isPython && /^[A-Za-z_]\w*$/.test(name)
      return `${isName ? name : written(name, language)}: ${written(property, language)}`
    })
    return properties.length === 0
      ? '{}'
      : isPython
        ? `{${properties.join(', ')}}`
        : `{ ${properties.join(', ')} }`
  }
  if (isPython && value === null) return 'None'
  if (isPython && typeof value === 'boolean') return value ? 'True' : 'False'
  return String(value)
}

const clientOf = ({ method, template, path, query, headers, body }: Call) => {
  const parts = Object.entries({ path, query, headers, body })
    .filter(([, part]) => part !== undefined && (part === body || Object.keys(part as object).length > 0))
    .map(([name, part]) => `  ${name}: ${written(part, 'JavaScript')},`)
  const options = parts.length > 0 ? `, {\n${parts.join('\n')}\n}` : ''
  return `const { data } = await client.request('${method} ${template}'${options})`
}

/** Operations that the client lacks, because it signs in as a user and isn't a browser. */
const fetchOf = (call: Call) => {
  const { method, headers, body } = call
  const parts = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(Object.keys(headers).length > 0 ? [`headers: ${written(headers, 'JavaScript')}`] : []),
    ...(body === undefined ? [] : [`body: ${written(JSON.stringify(body), 'JavaScript')}`]),
    ...(call.redirects ? ["redirect: 'manual'"] : []),
  ]
  return `const response = await fetch(\`\${process.env.SERVICE}${addressOf(call)}\`, {
${parts.map((part) => `  ${part},\n`).join('')}})
console.log(response.status, ${call.redirects ? "response.headers.get('Location')" : 'await response.json()'})`
}

const pythonOf = (call: Call) => {
  const { method, headers, authorization, body, redirects, signed } = call
  const named = Object.entries(headers).map(([name, value]) => `"${name}": ${written(value, 'Python')}`)
  if (authorization.Authorization) named.unshift('"Authorization": "Bearer " + os.environ["TOKEN"]')
  const json = signed ? `data=${JSON.stringify(JSON.stringify(body))}` : `json=${written(body, 'Python')}`
  const parts = [
    `os.environ["SERVICE"] + "${addressOf(call)}"`,
    ...(named.length > 0 ? [`headers={${named.join(', ')}}`] : []),
    ...(body === undefined ? [] : [json]),
    ...(redirects ? ['allow_redirects=False'] : []),
  ]
  return `import os, requests

response = requests.${method.toLowerCase()}(
    ${parts.join(',\n    ')},
)
response.raise_for_status()
print(${redirects ? 'response.headers["Location"]' : 'response.json()'})`
}

export const codeSamplesOf = (method: string, template: string, operation: SampledOperation) => {
  const call = callOf(method, template, operation)
  const isForClient = !call.signed && !call.redirects && !('X-Service-Admin-Key' in call.headers)
  const curl = { lang: 'Shell', label: 'curl', source: curlOf(call) }
  if (call.downloads) return [curl]
  return [
    curl,
    { lang: 'JavaScript', label: 'JavaScript', source: isForClient ? clientOf(call) : fetchOf(call) },
    { lang: 'Python', label: 'Python', source: pythonOf(call) },
  ]
}
