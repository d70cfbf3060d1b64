/**
 * The manifests of `ops/kubernetes` fit each other, the image and the service. They haven't been applied to a cluster.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { variables } from '../schemas/environment.js'
import { readConfig } from '../src/config.js'
import { projectRoot } from '../src/platform/process/root.js'

const folder = join(projectRoot, 'ops/kubernetes')
const files = await readdir(folder)
// biome-ignore lint/suspicious/noExplicitAny: only what the tests below compare matters
const manifests = new Map<string, any>()
for (const file of files)
  for (const document of parseAllDocuments(await readFile(join(folder, file), 'utf8'), {
    uniqueKeys: true,
  })) {
    const manifest = document.toJS()
    manifests.set(manifest.kind, manifest)
  }
const read = (name: string) => manifests.get(name)

t.test('the manifests are consistent with each other, the image and the service', async (t) => {
  const deployment = read('Deployment')
  const job = read('Job')
  const backup = read('CronJob').spec.jobTemplate
  const { namespace, resources, configMapGenerator, images } = read('Kustomization')
  const [container] = deployment.spec.template.spec.containers
  const [migration] = job.spec.template.spec.containers
  const dockerfile = await readFile(join(projectRoot, 'Dockerfile'), 'utf8')

  const applied = files.filter(
    (file) =>
      !['kustomization.yaml', 'migrate.yaml', 'service-monitor.yaml', 'backup.yaml', 'ingress.yaml'].includes(
        file,
      ),
  )
  t.same([...resources].sort(), applied.sort())
  t.equal(read('Namespace').metadata.name, namespace)
  for (const kind of ['Job', 'ServiceMonitor', 'CronJob', 'PersistentVolumeClaim', 'Ingress'])
    t.equal(read(kind).metadata.namespace, namespace, kind)
  t.equal(images[0].name, container.image)
  for (const { image } of [migration, backup.spec.template.spec.containers[0]])
    t.equal(image, `${images[0].newName}:${images[0].newTag}`)

  const { labels = {} } = deployment.spec.template.metadata
  const [label] = Object.values(labels)
  t.same(deployment.spec.selector.matchLabels, labels)
  t.same(read('Service').spec.selector, labels)
  t.same(read('Service').metadata.labels, read('ServiceMonitor').spec.selector.matchLabels)
  t.equal(read('Service').metadata.name, 'team-settings', 'the job of Prometheus that the alerts name')
  t.same(read('PodDisruptionBudget').spec.selector.matchLabels, labels)
  const [chosen] = read('NetworkPolicy').spec.podSelector.matchExpressions
  t.same(chosen?.values, [
    label,
    ...[job, { spec: backup.spec }].flatMap(({ spec }) => Object.values(spec.template.metadata.labels)),
  ])

  const ports = Object.fromEntries(
    container.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [
      name,
      containerPort,
    ]),
  )
  t.equal(ports.http, Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]))
  t.same(
    read('Service').spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
    Object.keys(ports),
  )
  t.same(
    read('NetworkPolicy').spec.ingress.flatMap(({ ports }: { ports: { port: number }[] }) =>
      ports.map(({ port }) => port),
    ),
    Object.values(ports),
  )

  for (const { spec } of [deployment.spec.template, job.spec.template, backup.spec.template]) {
    const { runAsUser, runAsGroup } = spec.securityContext
    t.equal(/^USER (.*)$/m.exec(dockerfile)?.[1], `${runAsUser}:${runAsGroup}`)
    const namesOf = (items: { name: string }[]) => items.map(({ name }) => name).sort()
    t.same(namesOf(spec.containers[0].volumeMounts), namesOf(spec.volumes))
  }

  const given = new Map<string, string>(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  )
  for (const line of configMapGenerator[0].literals) {
    const [name = '', value = ''] = line.split('=')
    given.set(name, value)
  }
  const handbook = await readFile(join(projectRoot, 'docs/install.md'), 'utf8')
  const env: Record<string, string> = {}
  for (const [name, value] of given) {
    const plain = name.replace(/_FILE$/, '')
    t.ok(plain in variables, `there is a variable ${plain}`)
    const file = /^\/run\/secrets\/team-settings\/(.*)$/.exec(value)?.[1]
    if (file) t.ok(handbook.includes(`--from-file=${file}=`), `the handbook creates the secret ${file}`)
    env[plain] = file ? 'postgres://service:a-secret-of-more-than-32-bytes@database/service' : value
  }
  const config = readConfig(env)
  const { terminationGracePeriodSeconds = 0 } = deployment.spec.template.spec
  t.ok(terminationGracePeriodSeconds >= config.shutdownDelayMs / 1_000 + 10, 'a stop has its time')
  t.same(
    [container.livenessProbe?.httpGet.path, container.readinessProbe?.httpGet.path],
    ['/api/health', '/api/ready'],
  )
})
