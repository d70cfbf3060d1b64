/** Imports the test files that are its arguments, which then run one after the other. */
for (const file of process.argv.slice(2)) await import(file)

// Node may turn in circles while it takes itself down (nodejs/node#47748), so it is ended once nothing is left to do.
process.once('beforeExit', () => process.exit())
