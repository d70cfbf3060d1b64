import { ApiError } from '../errors.js'
import { OperatorError } from '../platform/process/operator-error.js'

/** Runs a change, and explains to the operator why the service's rules reject it. @throws {OperatorError} */
export const explainFailure = async <T>(change: Promise<T>): Promise<T> => {
  try {
    return await change
  } catch (error) {
    throw error instanceof ApiError ? new OperatorError(explain(error)) : error
  }
}

const explain = ({ code, message, extras }: ApiError): string => {
  if (code === 'last_admin') {
    const places = extras.workspaces?.map(({ id, name }) => `\n  ${printable(name)}, ${id}`).join('')
    return `These workspaces need another admin first:${places}`
  }
  if (code === 'subscription_active')
    return 'A subscription is still running: end it first, at the billing provider'
  if (code === 'token_invalid') return 'The account was deleted in the meantime.'
  return message
}

/** Escapes control characters, line breaks and invisible characters in user input, for a terminal. */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
