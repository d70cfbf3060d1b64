/** Patterns of a settings schema, evaluated in linear time: backtracking would let one value hold up everyone. */
import { RE2JS } from 're2js'

export interface LinearPattern {
  test(text: string): boolean
  /** Units of work (`faults.ts`) for each character, at most. */
  work: number
}

/** The engine builds its automaton while it reads, and a new state takes up to 100 ns for each instruction. */
const WORK_PER_INSTRUCTION = 5

/** Undefined when the pattern has parts that take more than linear time, such as a lookahead or a back-reference. */
export const compilePattern = (pattern: string): LinearPattern | undefined => {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
    // The engine prepares itself with the first text, which can take a millisecond.
    compiled.test('')
    return { test: (text) => compiled.test(text), work: compiled.programSize() * WORK_PER_INSTRUCTION }
  } catch {
    return undefined
  }
}
