/** Short messages about changes, with an undo if there is one. */
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { useAction } from './api.js'
import { FailureNote } from './ui.js'

interface Toast {
  id: number
  text: string
  undo?: (() => Promise<unknown>) | undefined
}

const shown = signal<Toast[]>([])
let last = 0

/** How long a message stays. Undoable changes stay longer. Neither leaves while it has the pointer or focus. */
const [SHORT_MS, LONG_MS] = [6_000, 30_000]
const MAX_TOASTS = 3

/** Says that a change was made. `undo` reverts it and throws a `Failure` if it can't. */
export const toast = (text: string, undo?: () => Promise<unknown>) => {
  last++
  shown.value = [...shown.value, { id: last, text, undo }].slice(-MAX_TOASTS)
}

const dismiss = (id: number) => {
  shown.value = shown.value.filter((one) => one.id !== id)
}

/** The messages on screen. The region is always there, so that screen readers announce what appears in it. */
export const Toasts = () => (
  <div class="toasts" role="status">
    {shown.value.map((one) => (
      <Message key={one.id} {...one} />
    ))}
  </div>
)

const Message = ({ id, text, undo }: Toast) => {
  const [isHeld, hold] = useState(false)
  const { busy, failure, act } = useAction()
  useEffect(() => {
    if (isHeld || busy || failure) return
    const leave = setTimeout(dismiss, undo ? LONG_MS : SHORT_MS, id)
    return () => clearTimeout(leave)
  }, [isHeld, busy, failure])
  const revert = async () => {
    if (undo && (await act(undo))) dismiss(id)
  }
  return (
    <div
      class="toast"
      onPointerEnter={() => hold(true)}
      onPointerLeave={() => hold(false)}
      onFocusCapture={() => hold(true)}
      onBlurCapture={() => hold(false)}
    >
      {failure ? <FailureNote failure={failure} /> : <span class="grow">{text}</span>}
      {undo && !failure && (
        <button type="button" onClick={revert} aria-disabled={busy}>
          Undo
        </button>
      )}
      <button type="button" class="plain" aria-label="Dismiss" onClick={() => dismiss(id)}>
        ×
      </button>
    </div>
  )
}
