/** What is given to a command on its command line. */
import { parseArgs } from 'node:util'
import { OperatorError } from './operator-error.js'

type Texts<Names extends string> = Record<Names, string>

/**
 * Reads `--name value` for each of `options`, which are their defaults, `--name` for each of `flags`, and the rest; shows
 * `usage` when asked for help.
 * @returns undefined when only help was asked for
 * @throws {OperatorError} for what the command does not know, or with more or fewer others than it takes
 */
export const readArguments = <Names extends string = never>(
  command: string,
  usage: string,
  options: Texts<Names>,
  others = 0,
  flags: string[] = [],
): { options: Texts<Names>; others: string[]; flags: string[] } | undefined => {
  const problem = (text: string) => new OperatorError(`${text}; see \`npm run ${command} -- --help\`.`)
  const texts = Object.entries<string>(options).map(
    ([name, value]) => [name, { type: 'string', default: value }] as const,
  )
  const help = { type: 'boolean', default: false } as const
  const booleans = flags.map((name) => [name, help] as const)
  const parse = () => {
    try {
      return parseArgs({
        options: { ...Object.fromEntries([...texts, ...booleans]), help },
        allowPositionals: true,
      })
    } catch (error) {
      // The rest of the message is about how to escape what was hardly meant.
      throw problem((error as Error).message.split('. ')[0] ?? '')
    }
  }
  const { positionals, ...parsed } = parse()
  const values = parsed.values as Record<string, string | boolean | undefined>
  if (values.help) {
    process.stdout.write(usage)
    return undefined
  }
  if (positionals.length > others) throw problem(`Unexpected argument '${positionals[others]}'`)
  if (positionals.length < others) throw problem('Something is missing')
  return {
    options: values as unknown as Texts<Names>,
    others: positionals,
    flags: flags.filter((name) => values[name] === true),
  }
}
