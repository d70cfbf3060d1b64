/** What is said to who does not see the page change: in one place, once. */
import { effect, signal } from '@preact/signals'
import { loading } from './api.js'

export const announced = signal('')

const SLOW_MS = 1_000
/** What was said long ago is not found again by who reads on. */
const KEPT_MS = 10_000
let forget: ReturnType<typeof setTimeout> | undefined

export const announce = (text: string) => {
  // The same words once more are heard only if they differ.
  announced.value = text === announced.value ? `${text}\u00a0` : text
  clearTimeout(forget)
  forget = setTimeout(() => {
    announced.value = ''
  }, KEPT_MS)
}

let isSlow = false
// What is quick needs no words.
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
