/**
 * Generates `.env.example` and the tables of docs/configuration.md, docs/privacy.md and docs/metrics.md from the service's
 * own declarations.
 */
import { type Variable, variables } from '../../schemas/environment.js'
import { notRecorded, privacyRecords, privacyViews } from '../features/personal-data/privacy-facts.js'
import { metrics } from '../platform/metrics/metrics.js'

const defaultOf = ({ default: value }: Variable): string => (value === undefined ? '' : String(value))

const typeOf = ({ type, minimum, maximum, enum: values, secret }: Variable): string => {
  if (secret) return 'secret'
  if (values) return values.join(', ')
  if (type === 'integer') return `${minimum} to ${maximum}`
  return { boolean: 'true, false', array: 'list', string: 'text' }[type]
}

const secrets = Object.entries(variables)
  .flatMap(([name, { secret }]) => (secret ? [name] : []))
  .join(', ')

export const envExample =
  (): string => `# Every variable of the service, with its default. An empty one counts as unset.
# Made by \`npm run config-docs\`. Copied to .env, it is read at every start; what the environment says goes first.
# Each of ${secrets} can be kept in a file: put its
# path into the variable with _FILE at the end of the name.

${Object.entries(variables)
  .map(([name, variable]) => {
    const unset = variable.whenUnset === undefined ? '' : ` Unset: ${variable.whenUnset}.`
    const about = `${variable.description}${unset} Example: ${variable.examples[0]}`
    return `# ${about.replaceAll('`', '')}\n${name}=${defaultOf(variable)}\n`
  })
  .join('\n')}
# For compose.yaml alone: the name under which the service is reached. Secrets are in files there (ops/compose/first-run.sh).
# DOMAIN=team.example.com
`

const row = (cells: string[]) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`

const tableOf = (head: string[], rows: string[][]): string =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n')

const tableOfVariables = (): string => {
  const rows = Object.entries(variables).map(([name, variable]) => {
    const unset = defaultOf(variable) === '' ? `unset: ${variable.whenUnset}` : `\`${defaultOf(variable)}\``
    return [`\`${name}\``, typeOf(variable), unset, variable.description, `\`${variable.examples[0]}\``]
  })
  return tableOf(['variable', 'type', 'default', 'meaning', 'example'], rows)
}

/** A document with what is made for one of its places. */
const filled = (document: string, name: string, text: string): string => {
  const [begin, end] = [`<!-- ${name}: made by \`npm run config-docs\` -->\n`, `\n<!-- end of ${name} -->`]
  const [before, rest] = document.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`There is no place for the ${name}`)
  return before + begin + text + end + after
}

/** docs/configuration.md with the table as it should be. */
export const withVariables = (page: string): string => filled(page, 'variables', tableOfVariables())

/** docs/privacy.md with the facts from the code, in the default configuration. */
export const withPrivacy = (page: string): string => {
  const { ACTIVITY_DETAIL_DAYS, ACTIVITY_MIN_GROUP } = variables
  const records = tableOf(
    ['', 'what', 'why', 'kept', 'fields'],
    privacyRecords({ detailDays: Number(ACTIVITY_DETAIL_DAYS.default) }).map((record) => [
      record.name,
      record.what,
      record.why,
      record.kept,
      record.fields.map((field) => `\`${field}\``).join(', '),
    ]),
  )
  const shown = tableOf(
    ['', '`named`', '`team`'],
    privacyViews({ minGroup: Number(ACTIVITY_MIN_GROUP.default) }).map(({ what, named, team }) => [
      what,
      named,
      team,
    ]),
  )
  const unrecorded = notRecorded.map((line) => `- ${line}`).join('\n')
  return filled(filled(filled(page, 'records', records), 'unrecorded', unrecorded), 'views', shown)
}

const labelsOf = (labels: Record<string, readonly string[] | string>): string =>
  Object.entries(labels)
    .map(([name, values]) => {
      const known = typeof values === 'string' ? values : values.map((value) => `\`${value}\``).join(', ')
      return `\`${name}\`: ${known}`
    })
    .join('; ')

/** docs/metrics.md with the metrics that there are. */
export const withMetrics = (page: string): string => {
  const rows = Object.entries(metrics).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    help,
    labelsOf(labels),
  ])
  return filled(page, 'metrics', tableOf(['metric', 'type', 'meaning', 'labels'], rows))
}
