/** Reports faults of a deployment, and how to fix them. */
import '../platform/process/require-node.js'
import { runChecks } from '../operator/doctor/examine.js'
import { named, readArguments } from '../platform/process/arguments.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { print, runCommand } from '../platform/process/program.js'

const USAGE = `npm run doctor

  Checks the configuration, the database, the machine and the external services, and changes nothing.
  Exit code 1: there are problems to fix.
`

const levelLabels = { ok: 'ok     ', warning: 'WARNING', problem: 'PROBLEM' }

runCommand(async (stopped) => {
  if (!readArguments('doctor', USAGE, {})) return
  const findings = await runChecks(process.env, stopped)
  for (const { level, about, message, remedy } of findings) {
    print(`${levelLabels[level]}  ${about}: ${message}`)
    if (remedy !== undefined) print(`         ${named(remedy)}`)
  }
  const problems = findings.filter(({ level }) => level === 'problem').length
  // The error makes the exit code 1.
  if (problems > 0) throw new OperatorError(`\nProblems to fix: ${problems}.`)
  print('\nThe service can run.')
})
