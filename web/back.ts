/** Handles the back and forward buttons on a screen with unsaved changes. */
type Guard = (event: PopStateEvent) => void

let guard: Guard | undefined

export const guardBack = (next: Guard | undefined) => {
  guard = next
}

/** Listeners of the window run in the order of their registration, so this must be called before the router starts. */
export const startBackGuard = () => addEventListener('popstate', (event) => guard?.(event))
