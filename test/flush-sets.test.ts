/** Flushes of different people that arrive at the same time are written together. */
import t from 'tap'
import { runFlushModel } from './flush-model.js'

t.test('random flushes at once count once each, whatever fails', async (t) => {
  await runFlushModel(t, 120)
})
