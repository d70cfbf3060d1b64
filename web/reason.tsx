/** The reason for a change. */
import { limits } from '../schemas/limits.js'

/** Why a change is made, for its history. */
export const ReasonField = () => (
  <label class="field">
    Reason (optional)
    <input class="wide-input" name="reason" maxLength={limits.reason_length} autocomplete="off" />
  </label>
)

/** A form's reason as part of a body, if there is one. */
export const reasonIn = (given: FormData): { reason?: string } => {
  const reason = String(given.get('reason') ?? '').trim()
  return reason ? { reason } : {}
}
