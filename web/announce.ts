/** What is said to who does not see the page change: in one place, once. */
import { effect, signal } from '@preact/signals'
import { loading } from './api.js'

export const announced = signal('')

export const announce = (text: string) => {
  // The same words once more are heard only if they differ.
  announced.value = text === announced.value ? `${text}\u00a0` : text
}

const SLOW_MS = 1_000
const LOADING = 'Loading'

// What is quick needs no words.
effect(() => {
  if (loading.value === 0) {
    if (announced.peek() === LOADING) announce('Loaded')
    return
  }
  const slow = setTimeout(announce, SLOW_MS, LOADING)
  return () => clearTimeout(slow)
})
