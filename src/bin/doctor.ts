/** Says what is wrong with a deployment, and how to mend it. */
import { examine } from '../doctor/examine.js'
import { readArguments } from '../runtime/arguments.js'
import { OperatorError } from '../runtime/operator-error.js'
import { runCommand } from '../runtime/program.js'

const USAGE = `npm run doctor

  Looks at the configuration, the database, the machine and the services that are called, and changes nothing.
  Exit code 1: something is wrong.
`

const signs = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' }

runCommand(async (stopped) => {
  if (!readArguments('doctor', USAGE, {})) return
  const findings = await examine(process.env, stopped)
  for (const { level, about, says, remedy } of findings) {
    process.stdout.write(`${signs[level]}  ${about}: ${says}\n`)
    if (remedy !== undefined) process.stdout.write(`         ${remedy}\n`)
  }
  const problems = findings.filter(({ level }) => level === 'problem').length
  // Which makes the exit code 1.
  if (problems > 0) throw new OperatorError(`\nTo be mended: ${problems}.`)
  process.stdout.write('\nThe service can run.\n')
})
