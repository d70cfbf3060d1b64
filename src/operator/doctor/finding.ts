/** One result of the doctor. `problem`: the service doesn't work as it should. `warning`: it may not. */
export interface Finding {
  level: 'ok' | 'warning' | 'problem'
  about: string
  message: string
  /** How to fix it. */
  remedy?: string
}

export const ok = (about: string, message: string): Finding => ({ level: 'ok', about, message })
export const warning = (about: string, message: string, remedy: string): Finding => ({
  level: 'warning',
  about,
  message,
  remedy,
})
export const problem = (about: string, message: string, remedy: string): Finding => ({
  level: 'problem',
  about,
  message,
  remedy,
})

/** Leaves out those that don't apply. */
export const findingsOf = (...found: (Finding | false | undefined)[]): Finding[] =>
  found.filter((one) => one !== false && one !== undefined)
