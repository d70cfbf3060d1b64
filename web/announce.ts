/** Announcements for screen readers when the page changes. */
import { effect, signal } from '@preact/signals'
import { loading } from './api.js'

export const announced = signal('')

const SLOW_MS = 1_000
/** Old messages are removed, so that a screen reader doesn't come across them later. */
const KEPT_MS = 10_000
let forget: ReturnType<typeof setTimeout> | undefined

export const announce = (text: string) => {
  // A screen reader ignores a repeated message unless its text differs.
  announced.value = text === announced.value ? `${text}\u00a0` : text
  clearTimeout(forget)
  forget = setTimeout(() => {
    announced.value = ''
  }, KEPT_MS)
}

let isSlow = false
// Only slow requests are announced.
effect(() => {
  if (loading.value === 0) {
    if (isSlow) announce('Loaded')
    isSlow = false
    return
  }
  const slow = setTimeout(() => {
    isSlow = true
    announce('Loading')
  }, SLOW_MS)
  return () => clearTimeout(slow)
})
