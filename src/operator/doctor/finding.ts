/** One result of the doctor. `problem`: the service doesn't work as it should. `warning`: it may not. */
export interface Finding {
  level: 'ok' | 'warning' | 'problem'
  about: string
  says: string
  /** How to fix it. */
  remedy?: string
}

export const ok = (about: string, says: string): Finding => ({ level: 'ok', about, says })
export const warning = (about: string, says: string, remedy: string): Finding => ({
  level: 'warning',
  about,
  says,
  remedy,
})
export const problem = (about: string, says: string, remedy: string): Finding => ({
  level: 'problem',
  about,
  says,
  remedy,
})

/** Leaves out those that don't apply. */
export const findingsOf = (...found: (Finding | false | undefined)[]): Finding[] =>
  found.filter((one) => one !== false && one !== undefined)
