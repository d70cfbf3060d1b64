/** Somebody whom the dashboard offers as a button to sign in as; only the demo has such people. */
export interface OfferedPerson {
  login: string
  /** Why one would want to be them. */
  about: string
  repohost_token: string
}

/** What the dashboard's page knows before its first call. */
export interface PageStart {
  signed_in: boolean
  /** Whether the repository host's own login is set up. */
  oauth: boolean
  /** `dormant`: there is a provider, but everybody has everything. */
  billing: 'off' | 'dormant' | 'on'
  repohost_url: string
  extension_prefix: string
  people: OfferedPerson[]
}
