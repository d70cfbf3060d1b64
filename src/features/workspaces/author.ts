/** The author of a change: a person, or a workspace key that the person created. */
export interface Author {
  /** The person. */
  id: string
  /** The login, or `key <name>`. */
  login: string
  /** Null: the person wrote it. */
  keyName: string | null
}
