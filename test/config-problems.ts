import { readConfig } from '../src/config.js'
import type { ConfigError } from '../src/platform/process/config-error.js'

/** The problems of an environment. Empty if the service can start with it. */
export const problemsOf = (env: Record<string, string>): string[] => {
  try {
    readConfig(env)
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}
