/** A person whom the dashboard offers to sign in as, with a button. Only the demo has such people. */
export interface OfferedPerson {
  login: string
  /** Why a visitor would sign in as this person. */
  about: string
  repohost_token: string
}

/** What the dashboard's page knows before its first call. */
export interface PageStart {
  signed_in: boolean
  /** Whether the OAuth app of the repository host is configured. */
  oauth: boolean
  /** `dormant`: a provider is configured, but everyone has Pro. */
  billing: 'off' | 'dormant' | 'on'
  repohost_url: string
  extension_prefix: string
  people: OfferedPerson[]
}
