/** `.env.example` and the README's table of variables, made of the schema that reads them. */
import { type Variable, variables } from '../../schemas/environment.js'

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
# For compose.yaml alone, which also requires JWT_SECRETS: the password of its database, letters and digits only.
# Make one with: openssl rand -hex 24
# POSTGRES_PASSWORD=
`

const cell = (text: string) => text.replaceAll('|', '\\|')

const table = (): string => {
  const rows = Object.entries(variables).map(([name, variable]) => {
    const unset = defaultOf(variable) === '' ? `unset: ${variable.whenUnset}` : `\`${defaultOf(variable)}\``
    const columns = [
      `\`${name}\``,
      typeOf(variable),
      unset,
      variable.description,
      `\`${variable.examples[0]}\``,
    ]
    return `| ${columns.map(cell).join(' | ')} |`
  })
  return ['| variable | type | default | meaning | example |', '|---|---|---|---|---|', ...rows].join('\n')
}

const place = /(?<=<!-- variables: made by `npm run config-docs` -->\n)[\s\S]*(?=\n<!-- end of variables -->)/

/** The README with the table as it should be. */
export const withVariables = (readme: string): string => {
  if (!place.test(readme)) throw new Error('The README has no place for the table of variables')
  return readme.replace(place, () => table())
}
