/** The proxies of `ops/`, with other ports and a certificate of their own, so that they can be checked and run anywhere. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from '../src/platform/process/root.js'

const run = promisify(execFile)

export const NAME = 'service.example.com'

export interface Place {
  /** For what is written. */
  folder: string
  /** Where the proxy listens with TLS, and where without. */
  front: number
  plain: number
  /** The addresses of the instances. */
  ports: number[]
}

export interface Example {
  program: string
  /** The arguments that check the configuration, and those that run it in the foreground. */
  check: string[]
  start: string[]
  /** Whether it asks instances if they are ready; without it, a restart may cost a request that is on its way. */
  asks: boolean
}

export const isInstalled = (program: string, ask = '-v'): Promise<boolean> =>
  run(program, [ask]).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )

/** A self-signed certificate. Needs `openssl`. @returns the files of both, of the certificate and of its key */
export const makeCertificate = async (folder: string) => {
  const [both, certificate, key] = ['both.pem', 'certificate.pem', 'key.pem'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  const wanted = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${NAME}`]
  await run('openssl', ['req', '-x509', ...wanted, '-out', certificate, '-keyout', key])
  await writeFile(both, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')))
  return { both, certificate, key }
}

type Certificate = Awaited<ReturnType<typeof makeCertificate>>

const example = async (name: string, { ports }: Place) => {
  const text = await readFile(join(projectRoot, 'ops', name), 'utf8')
  return text.replace(/:300([1-4])\b/g, (_, n: string) => `:${ports[Number(n) - 1] ?? ports[0]}`)
}

const written = async ({ folder }: Place, name: string, text: string) => {
  const file = join(folder, name)
  await writeFile(file, text)
  return file
}

export const examples: Record<string, (place: Place, certificate: Certificate) => Promise<Example>> = {
  nginx: async (place, { certificate, key }) => {
    const { folder, front, plain } = place
    const server = (await example('nginx.conf', place))
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443', `listen 127.0.0.1:${front}`)
      .replace(/(?<=ssl_certificate ).*;/, `${certificate};`)
      .replace(/(?<=ssl_certificate_key ).*;/, `${key};`)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder};`,
    )
    const whole = `pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
      http { access_log off; ${temporary.join(' ')}\n${server} }`
    const file = await written(place, 'nginx.conf', whole)
    const start = ['-e', join(folder, 'error.log'), '-c', file]
    return { program: 'nginx', check: [...start, '-t'], start: [...start, '-g', 'daemon off;'], asks: false }
  },
  caddy: async (place, { certificate, key }) => {
    const { folder, front } = place
    const site = (await example('Caddyfile.plain', place)).replace(
      `${NAME} {`,
      `${NAME}:${front} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
    )
    const globals = `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n`
    const file = await written(place, 'Caddyfile', globals + site)
    const options = ['--config', file, '--adapter', 'caddyfile']
    return { program: 'caddy', check: ['validate', ...options], start: ['run', ...options], asks: true }
  },
  haproxy: async (place, { both }) => {
    const { front, plain, ports } = place
    const lines = (await example('haproxy.cfg', place)).split('\n')
    const servers = lines.filter((line) => /^ {2}server /.test(line)).slice(ports.length)
    const text = lines
      .filter((line) => !servers.includes(line))
      .join('\n')
      .replace(/bind :443 ssl crt \S+/, `bind 127.0.0.1:${front} ssl crt ${both}`)
      .replace('bind :80', `bind 127.0.0.1:${plain}`)
    const file = await written(place, 'haproxy.cfg', text)
    return { program: 'haproxy', check: ['-c', '-f', file], start: ['-f', file, '-db', '-q'], asks: true }
  },
}
