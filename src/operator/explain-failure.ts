import { ApiError } from '../errors.js'
import { OperatorError } from '../platform/process/operator-error.js'
import { printable } from './printable.js'

/** Runs a change, and explains to the operator why the service's rules reject it. @throws {OperatorError} */
export const explainFailure = async <T>(change: Promise<T>): Promise<T> => {
  try {
    return await change
  } catch (error) {
    throw toOperatorError(error)
  }
}

const toOperatorError = (error: unknown): unknown => {
  if (!(error instanceof ApiError)) return error
  if (error.code === 'last_admin') {
    const places = error.extras.workspaces?.map(({ id, name }) => `\n  ${printable(name)}, ${id}`).join('')
    return new OperatorError(`These workspaces need another admin first:${places}`)
  }
  if (error.code === 'subscription_active')
    return new OperatorError('A subscription is still running: end it first, at the billing provider')
  if (error.code === 'token_invalid') return new OperatorError('The account was deleted in the meantime.')
  return new OperatorError(error.message)
}
