/** Loaded before the tests of a mutant: equal numbers in each run, and no search for a smaller counterexample. */
import fc from 'fast-check'

fc.configureGlobal({ endOnFailure: true, seed: 1 })
