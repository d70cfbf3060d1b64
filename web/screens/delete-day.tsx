/** Removes what is recorded about a day of one's own. */
import { useState } from 'preact/hooks'
import { call, refresh } from '../api.js'
import { duration, fullDay, today } from '../format.js'
import { toast } from '../toast.js'
import { Confirm } from '../ui.js'

export const DeleteDay = (props: { day: string; onClose: () => void }) => {
  const [day, choose] = useState(props.day)
  return (
    <Confirm
      title="Delete time of a day?"
      action="Delete time"
      onClose={props.onClose}
      onYes={async () => {
        const { data } = await call('DELETE /api/me/active-minutes', { query: { day } })
        refresh()
        toast(
          data.removed_minutes > 0
            ? `${duration(data.removed_minutes)} of ${fullDay(day)} deleted`
            : `No time was recorded on ${fullDay(day)}`,
        )
      }}
    >
      <label class="field">
        Day
        <input
          type="date"
          required
          max={today()}
          value={day}
          onInput={(event) => choose(event.currentTarget.value)}
        />
      </label>
      <p>
        This deletes your minutes of this day in all workspaces, in your own time, and under names that wait
        for a repository. Commits and closed issues stay, and so do published weeks. You can’t undo this.
      </p>
      <p class="muted">If an editor or an import sends the same heartbeats again, they count again.</p>
    </Confirm>
  )
}
