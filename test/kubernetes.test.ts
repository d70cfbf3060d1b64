/** The manifests of `ops/kubernetes`: no member that Kubernetes does not have, and what they and the image agree on. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import t from 'tap'
import { parse } from 'yaml'
import { variables } from '../schemas/environment.js'
import { readConfig } from '../src/config.js'
import { projectRoot } from '../src/platform/process/root.js'

/**
 * The members that the manifests use, named and typed as in the reference of Kubernetes 1.25 and newer. The API server
 * ignores a misspelled member, so that a probe or a limit would be missing. `kubernetes-models` on npm ignores it too.
 */
const exact = <P extends TProperties>(properties: P): TObject<P> =>
  Type.Object(properties, { additionalProperties: false })
const optional = <S extends TSchema>(schema: S) => Type.Optional(schema)
const list = Type.Array
const word = Type.String({ minLength: 1 })
const count = Type.Integer({ minimum: 0 })
const yes = Type.Literal(true)
const no = Type.Literal(false)
const name = Type.String({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' })
const labels = Type.Record(Type.String({ pattern: '^([a-z.-]+/)?[a-z.-]+$' }), word)
const quantity = Type.String({ pattern: '^[0-9]+(m|Mi|Gi)?$' })
const selector = exact({ matchLabels: labels })
const metadata = exact({ name, namespace: optional(name), labels: optional(labels) })

const probe = exact({
  httpGet: exact({ path: word, port: Type.Literal('http') }),
  periodSeconds: count,
  timeoutSeconds: optional(count),
  failureThreshold: count,
})
const container = exact({
  name,
  image: word,
  command: optional(list(word)),
  envFrom: optional(list(exact({ configMapRef: exact({ name }) }))),
  env: list(exact({ name: word, value: word })),
  ports: optional(list(exact({ name, containerPort: count }))),
  startupProbe: optional(probe),
  livenessProbe: optional(probe),
  readinessProbe: optional(probe),
  resources: exact({
    requests: exact({ cpu: quantity, memory: quantity }),
    limits: exact({ memory: quantity }),
  }),
  // What the level `restricted` of Kubernetes demands, and more.
  securityContext: exact({
    allowPrivilegeEscalation: no,
    readOnlyRootFilesystem: yes,
    capabilities: exact({ drop: Type.Tuple([Type.Literal('ALL')]) }),
  }),
  volumeMounts: list(exact({ name, mountPath: word, readOnly: optional(yes) })),
})
const pod = exact({
  metadata: exact({ labels }),
  spec: exact({
    automountServiceAccountToken: no,
    enableServiceLinks: no,
    restartPolicy: optional(Type.Literal('OnFailure')),
    terminationGracePeriodSeconds: optional(count),
    securityContext: exact({
      runAsNonRoot: yes,
      runAsUser: count,
      runAsGroup: count,
      fsGroup: count,
      seccompProfile: exact({ type: Type.Literal('RuntimeDefault') }),
    }),
    topologySpreadConstraints: optional(
      list(
        exact({
          maxSkew: count,
          topologyKey: word,
          whenUnsatisfiable: Type.Union([Type.Literal('ScheduleAnyway'), Type.Literal('DoNotSchedule')]),
          labelSelector: selector,
        }),
      ),
    ),
    containers: Type.Tuple([container]),
    volumes: list(
      Type.Union([
        exact({ name, secret: exact({ secretName: name, defaultMode: count }) }),
        exact({ name, emptyDir: exact({ sizeLimit: quantity }) }),
      ]),
    ),
  }),
})
const policyPorts = list(
  exact({ protocol: Type.Union([Type.Literal('TCP'), Type.Literal('UDP')]), port: count }),
)
const kind = <K extends string, P extends TProperties>(apiVersion: string, name: K, rest: P) =>
  exact({ apiVersion: Type.Literal(apiVersion), kind: Type.Literal(name), ...rest })
const kinds = {
  Namespace: kind('v1', 'Namespace', { metadata }),
  Deployment: kind('apps/v1', 'Deployment', {
    metadata,
    spec: exact({
      replicas: count,
      strategy: exact({
        type: Type.Literal('RollingUpdate'),
        rollingUpdate: exact({ maxUnavailable: count, maxSurge: count }),
      }),
      selector,
      template: pod,
    }),
  }),
  Job: kind('batch/v1', 'Job', {
    metadata,
    spec: exact({ backoffLimit: count, ttlSecondsAfterFinished: count, template: pod }),
  }),
  Service: kind('v1', 'Service', {
    metadata,
    spec: exact({ selector: labels, ports: list(exact({ name, port: count, targetPort: name })) }),
  }),
  PodDisruptionBudget: kind('policy/v1', 'PodDisruptionBudget', {
    metadata,
    spec: exact({ maxUnavailable: count, selector }),
  }),
  NetworkPolicy: kind('networking.k8s.io/v1', 'NetworkPolicy', {
    metadata,
    spec: exact({
      podSelector: exact({
        matchExpressions: list(exact({ key: word, operator: Type.Literal('In'), values: list(word) })),
      }),
      policyTypes: list(Type.Union([Type.Literal('Ingress'), Type.Literal('Egress')])),
      ingress: list(exact({ from: list(exact({ namespaceSelector: selector })), ports: policyPorts })),
      egress: list(exact({ ports: policyPorts })),
    }),
  }),
  ServiceMonitor: kind('monitoring.coreos.com/v1', 'ServiceMonitor', {
    metadata,
    spec: exact({ selector, endpoints: list(exact({ port: name, path: word, interval: word })) }),
  }),
  Kustomization: kind('kustomize.config.k8s.io/v1beta1', 'Kustomization', {
    namespace: name,
    resources: list(word),
    configMapGenerator: Type.Tuple([
      exact({ name, literals: list(Type.String({ pattern: '^[A-Z_]+=.+$' })) }),
    ]),
    images: Type.Tuple([exact({ name, newName: word, newTag: word })]),
  }),
}

const folder = join(projectRoot, 'ops/kubernetes')
const files = await readdir(folder)
const manifests = new Map<string, unknown>()
for (const file of files) {
  const manifest = parse(await readFile(join(folder, file), 'utf8'), { uniqueKeys: true })
  manifests.set(manifest.kind, manifest)
}
const read = <K extends keyof typeof kinds>(name: K) => Value.Decode(kinds[name], manifests.get(name))

t.test('every manifest has only members that Kubernetes knows', (t) => {
  t.same([...manifests.keys()].sort(), Object.keys(kinds).sort())
  for (const [name, schema] of Object.entries(kinds)) {
    const errors = [...Value.Errors(schema, manifests.get(name))]
    t.same(
      errors.map(({ path, message }) => `${path}: ${message}`),
      [],
      name,
    )
  }
  t.end()
})

t.test('the manifests fit each other, the image and the service', async (t) => {
  const deployment = read('Deployment')
  const job = read('Job')
  const { namespace, resources, configMapGenerator, images } = read('Kustomization')
  const [container] = deployment.spec.template.spec.containers
  const [migration] = job.spec.template.spec.containers
  const dockerfile = await readFile(join(projectRoot, 'Dockerfile'), 'utf8')

  const applied = files.filter(
    (file) => !['kustomization.yaml', 'migrate.yaml', 'service-monitor.yaml'].includes(file),
  )
  t.same([...resources].sort(), applied.sort())
  t.equal(read('Namespace').metadata.name, namespace)
  for (const { metadata } of [job, read('ServiceMonitor')]) t.equal(metadata.namespace, namespace)
  t.equal(images[0].name, container.image)
  t.equal(migration.image, `${images[0].newName}:${images[0].newTag}`)

  const { labels = {} } = deployment.spec.template.metadata
  const [label] = Object.values(labels)
  t.same(deployment.spec.selector.matchLabels, labels)
  t.same(read('Service').spec.selector, labels)
  t.same(read('Service').metadata.labels, read('ServiceMonitor').spec.selector.matchLabels)
  t.equal(read('Service').metadata.name, 'team-settings', 'the job of Prometheus that the alerts name')
  t.same(read('PodDisruptionBudget').spec.selector.matchLabels, labels)
  const [chosen] = read('NetworkPolicy').spec.podSelector.matchExpressions
  t.same(chosen?.values, [label, ...Object.values(job.spec.template.metadata.labels)])

  const ports = Object.fromEntries(
    (container.ports ?? []).map(({ name, containerPort }) => [name, containerPort]),
  )
  t.equal(ports.http, Number(/^EXPOSE (\d+)$/m.exec(dockerfile)?.[1]))
  t.same(
    read('Service').spec.ports.map(({ targetPort }) => targetPort),
    Object.keys(ports),
  )
  t.same(
    read('NetworkPolicy').spec.ingress.flatMap(({ ports }) => ports.map(({ port }) => port)),
    Object.values(ports),
  )

  for (const { spec } of [deployment.spec.template, job.spec.template]) {
    const { runAsUser, runAsGroup } = spec.securityContext
    t.equal(/^USER (.*)$/m.exec(dockerfile)?.[1], `${runAsUser}:${runAsGroup}`)
    const volumes = spec.volumes.map(({ name }) => name)
    t.same(
      spec.containers[0].volumeMounts.map(({ name }) => name),
      volumes,
    )
  }

  const given = new Map(container.env.map(({ name, value }) => [name, value]))
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
