/** Choices stored in the browser. If it blocks storage, the page forgets them. */
export const readStored = (name: string): string | null => {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export const store = (name: string, value: string) => {
  try {
    localStorage.setItem(name, value)
  } catch {
    // The choice lasts until the page is closed.
  }
}
