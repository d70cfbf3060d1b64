/** Loaded into a service (`node --import`), it prints how much CPU time each piece of its work takes. */
import { isMainThread } from 'node:worker_threads'
import { watchAll } from '../../bench/cpu-watch.js'

// A thread of its own keeps no one waiting.
if (isMainThread) watchAll((ms) => process.stderr.write(`cpu ${ms.toFixed(1)}\n`))
