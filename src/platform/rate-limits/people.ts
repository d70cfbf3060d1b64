const REMEMBERED = 50_000
/** How long a request waits for the database here. */
const ANSWER_MS = 500
/** How long the database is not asked after it did not answer. */
const PAUSE_MS = 1_000

/**
 * Which person an account belongs to, for limits: they go on when somebody deletes the account and signs in again. No
 * account ever changes hands, so what is known stays true.
 */
export class People {
  private readonly known = new Map<string, string | Promise<string>>()
  private askAgainAt = 0

  /** @param find the person's id at the repository host; null for an account that was deleted */
  constructor(private readonly find: (userId: string) => Promise<string | null>) {}

  /** What limits of the person are counted under. A promise only the first time; that of the account if nobody knows. */
  keyOf(userId: string): string | Promise<string> {
    const known = this.known.get(userId)
    if (known !== undefined) return known
    if (Date.now() < this.askAgainAt) return userId
    const asked = this.ask(userId)
    this.remember(userId, asked)
    return asked
  }

  private async ask(userId: string): Promise<string> {
    const found = this.find(userId).then(
      (repohostId) => {
        // Deleted accounts have nothing to call for, and share what is left of their sessions.
        const key = repohostId === null ? 'deleted accounts' : `person ${repohostId}`
        this.remember(userId, key)
        return key
      },
      () => {
        this.known.delete(userId)
        this.askAgainAt = Date.now() + PAUSE_MS
        return userId
      },
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => {
        this.askAgainAt = Date.now() + PAUSE_MS
        resolve(userId)
      }, ANSWER_MS)
    })
    return Promise.race([found, late]).finally(() => clearTimeout(timer))
  }

  /** In place of the oldest, once there are many. */
  private remember(userId: string, key: string | Promise<string>) {
    this.known.set(userId, key)
    if (this.known.size <= REMEMBERED) return
    for (const oldest of this.known.keys()) {
      this.known.delete(oldest)
      break
    }
  }
}
