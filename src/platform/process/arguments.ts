/** Command-line arguments. */
import { parseArgs } from 'node:util'
import { own } from '../../../schemas/own.js'
import { OperatorError } from './operator-error.js'

let prefix: string | undefined

/** Shows commands in usages and errors as `<prefix> COMMAND` rather than as npm scripts. */
export const useCommandPrefix = (name: string): void => {
  prefix = name
}

/** A text with its commands in the form of this installation. */
export const named = (text: string): string =>
  prefix === undefined ? text : text.replace(/npm (?:run )?([a-z-]+)( --(?= ))?/g, `${prefix} $1`)

const problemOf = (command: string, text: string) =>
  new OperatorError(named(`${text}. See \`npm run ${command} -- --help\`.`))

type Texts<Names extends string> = Record<Names, string>

/** How many arguments a command takes besides its options: a number, or the minimum and maximum. */
export type Count = number | [min: number, max: number]

const requireCount = (command: string, given: string[], count: Count): void => {
  const [min, max] = typeof count === 'number' ? [count, count] : count
  if (given.length > max) throw problemOf(command, `Unexpected argument '${given[max]}'`)
  if (given.length < min) throw problemOf(command, 'An argument is missing')
}

/**
 * Reads `--name value` for each of `options`, which are their defaults, `--name` for each of `flags`, and the rest; shows
 * `usage` for `--help`.
 * @returns undefined after `--help`
 * @throws {OperatorError} for an unknown option, or too many or too few other arguments
 */
export const readArguments = <Names extends string = never>(
  command: string,
  usage: string,
  options: Texts<Names>,
  others: Count = 0,
  flags: string[] = [],
): { options: Texts<Names>; others: string[]; flags: string[] } | undefined => {
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
      // The rest of the message explains escapes, which hardly anyone needs.
      throw problemOf(command, (error as Error).message.split('. ')[0] ?? '')
    }
  }
  const { positionals, ...parsed } = parse()
  const values = parsed.values as Record<string, string | boolean | undefined>
  if (values.help) {
    process.stdout.write(named(usage))
    return undefined
  }
  requireCount(command, positionals, others)
  return {
    options: values as unknown as Texts<Names>,
    others: positionals,
    flags: flags.filter((name) => values[name] === true),
  }
}

/**
 * One of a program's commands, by its first argument.
 * @param given the arguments after it
 * @throws {OperatorError} if there is no such command, or with more or fewer arguments than it takes
 */
export const requireCommand = <Command extends { takes: Count }>(
  program: string,
  commands: Record<string, Command>,
  name: string,
  given: string[],
): Command => {
  const command = own(commands, name)
  if (!command) throw problemOf(program, `Unknown command: ${name}`)
  requireCount(program, given, command.takes)
  return command
}
