import { OperatorError } from './operator-error.js'

/** Reports everything that's wrong with the environment, without quoting any value. */
export class ConfigError extends OperatorError {
  constructor(readonly problems: string[]) {
    super(`The configuration isn’t valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
  }
}
