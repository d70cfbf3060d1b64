/** Imports the test files that are its arguments, which then run one after the other. */
for (const file of process.argv.slice(2)) await import(file)
