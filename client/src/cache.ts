/** A cached response and the ETag that revalidates it. */
export interface CachedAnswer {
  etag: string
  text: string
}

/** Stores responses between conditional reads. A cache that outlives the process must belong to one user. */
export interface AnswerCache {
  get(key: string): CachedAnswer | undefined | Promise<CachedAnswer | undefined>
  set(key: string, answer: CachedAnswer): void | Promise<void>
  /** Called when the user may have changed. */
  clear(): void | Promise<void>
}

/** Keeps the most recently used responses, up to this many characters in total. */
export const memoryCache = (limit = 4_000_000): AnswerCache => {
  const answers = new Map<string, CachedAnswer>()
  let size = 0
  const drop = (key: string) => {
    size -= answers.get(key)?.text.length ?? 0
    answers.delete(key)
  }
  return {
    get(key) {
      const answer = answers.get(key)
      if (answer === undefined) return undefined
      answers.delete(key)
      answers.set(key, answer)
      return answer
    },
    set(key, answer) {
      drop(key)
      answers.set(key, answer)
      size += answer.text.length
      for (const oldest of answers.keys()) {
        if (size <= limit) break
        drop(oldest)
      }
    },
    clear() {
      answers.clear()
      size = 0
    },
  }
}
