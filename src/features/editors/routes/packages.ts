/**
 * Serves the client and extension packages of this version and of earlier ones. No registry and no
 * marketplace has them, so `npm install` and editors take them from here.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { NotModified } from '../../../../schemas/common.js'
import type { Config } from '../../../config.js'
import { ApiError } from '../../../errors.js'
import { anyone } from '../../../platform/access/access.js'
import { sendBytes } from '../../../platform/http/content.js'
import { etagOfText, isUnchanged } from '../../../platform/http/etag.js'
import { lazy } from '../../../platform/process/async.js'
import { projectRoot, serviceVersion } from '../../../platform/process/root.js'

/** The extension with everything it needs to know about this service, so that people don't have to enter anything. */
const withAddress = (bytes: Uint8Array, { baseUrl, repohost: { kind, url } }: Config): Buffer => {
  const { 'extension/package.json': text, ...files } = unzipSync(bytes)
  const manifest = JSON.parse(strFromU8(text ?? new Uint8Array()))
  const { protocol, hostname, host, pathname } = new URL(url)
  const address = `${protocol === 'http:' ? 'http://' : ''}${host}${pathname.replace(/\/+$/, '')}`
  const github = hostname === 'github.com' ? 'github' : 'github-enterprise'
  const defaults: [name: string, value: string][] = [
    ['url', baseUrl],
    ['signInWith', kind === 'github' ? github : 'token'],
    ['host', address],
    ['gitlabHost', kind === 'gitlab' ? address : ''],
  ]
  for (const [name, value] of defaults) {
    // Earlier versions have fewer settings.
    const property = manifest.contributes.configuration.properties[`teamSettings.${name}`]
    if (property !== undefined) property.default = value
  }
  const changed = strToU8(`${JSON.stringify(manifest, null, 2)}\n`)
  return Buffer.from(
    zipSync({ ...files, 'extension/package.json': changed }, { mtime: new Date(1980, 0, 2) }),
  )
}

const PACKAGES = [
  {
    name: 'client',
    ending: 'tgz',
    type: 'application/gzip',
    example: 'an npm package',
    operations: ['findClient', 'downloadClient'],
    what: 'the client',
    description: 'The typed client’s npm package, for `npm install`.',
    prepare: (bytes: Buffer) => bytes,
  },
  {
    name: 'extension',
    ending: 'vsix',
    type: 'application/octet-stream',
    example: 'a VSIX package',
    operations: ['findExtension', 'downloadExtension'],
    what: 'the editor extension',
    description:
      'The VS Code extension, with this service’s address in it. To install it: `code --install-extension extension.vsix`.',
    prepare: withAddress,
  },
] as const

const PackageParams = Type.Object({
  version: Type.String({
    pattern: '^\\d{1,9}(\\.\\d{1,9}){2}$',
    description: 'As in `version` of `GET /api/health`.',
    examples: [serviceVersion],
  }),
})

/** A package's files, by name. Earlier versions are kept for a year: projects and jobs pin them. */
const filesOf = (name: string, ending: string): Map<string, string> => {
  const file = join(projectRoot, `build/${name}.${ending}`)
  const released = join(projectRoot, name, 'released')
  return new Map([
    ...(existsSync(released) ? readdirSync(released) : []).map(
      (file) => [file, join(released, file)] as const,
    ),
    ...(existsSync(file) ? [[`${name}-${serviceVersion}.${ending}`, file] as const] : []),
  ])
}

export const packageRoutes: FastifyPluginAsyncTypebox = async (app) => {
  for (const { name, ending, type, example, operations, what, description, prepare } of PACKAGES) {
    const current = `${name}-${serviceVersion}.${ending}`
    const address = `/api/${current}`
    const files = filesOf(name, ending)
    if (!files.has(current))
      app.log.warn(`${what} wasn’t packed, so the service doesn’t serve it: run npm run build`)
    const packages = new Map(
      Array.from(files, ([file, path]) => [
        file,
        lazy(() => {
          const bytes = prepare(readFileSync(path), app.config)
          return { bytes, etag: etagOfText(bytes) }
        }),
      ]),
    )

    app.route({
      method: 'GET',
      url: `/${name}.${ending}`,
      config: { access: anyone, limit: 'pages', usesDatabase: false },
      schema: {
        operationId: operations[0],
        tags: ['service'],
        summary: `Find ${what} for this version`,
        description: `Redirects to the package of ${what}. In instructions and files, use the address that contains the version.`,
        response: {
          302: {
            description: `Redirects to \`GET /api/${name}-{version}.${ending}\`. The body is the package.`,
            content: { [type]: { schema: Type.String({ format: 'binary', examples: [example] }) } },
          },
        },
      },
      handler: async (_, reply) => {
        reply.header('Cache-Control', 'no-cache').header('Location', address).code(302)
        // Includes the file, because `curl -O` without `-L` saves the redirect's body.
        return sendBytes(reply, type, packages.get(current)?.().bytes)
      },
    })

    app.route({
      method: 'GET',
      url: `/${name}-:version.${ending}`,
      config: {
        access: anyone,
        limit: 'pages',
        usesDatabase: false,
        headers: ['ETag'],
        errors: ['route_not_found'],
      },
      schema: {
        operationId: operations[1],
        tags: ['service'],
        summary: `Download ${what}`,
        description: `${description} The service keeps the version that \`GET /api/health\` returns, and those of the past year.`,
        params: PackageParams,
        response: {
          200: {
            description: 'The package, which never changes.',
            content: { [type]: { schema: Type.String({ format: 'binary', examples: [example] }) } },
          },
          304: NotModified,
        },
      },
      handler: async ({ params }, reply) => {
        const packed = packages.get(`${name}-${params.version}.${ending}`)
        if (!packed)
          throw new ApiError('route_not_found', {
            detail: `This service has version ${serviceVersion} of ${what}: ${address}`,
          })
        const { bytes, etag } = packed()
        reply.header('Cache-Control', 'public, max-age=31536000, immutable')
        if (isUnchanged(reply, etag)) return reply.code(304).send()
        return sendBytes(reply, type, bytes)
      },
    })
  }
}
