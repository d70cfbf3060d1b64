/** A workspace's privacy level: who sees each person's numbers. Every member sees it, and admins change it. */
import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../client/src/operations.js'
import { call, useRead } from '../api.js'
import { consent, levelNames, namesSince, sinceText, smallTeamText } from '../consent.js'
import { fullDay, time, utcDay } from '../format.js'
import { useMe, useWorkspace } from '../me.js'
import { toast } from '../toast.js'
import { Confirm, Form, Loaded } from '../ui.js'
import { Unsaved } from '../unsaved.js'

type State = AnswerOf<'GET /api/team/workspaces/{id}/settings'>
type Level = State['activity_privacy']

export const MembersPrivacy = () => {
  const workspace = useWorkspace()
  const { id, role } = workspace
  const response = useRead('GET /api/team/workspaces/{id}/settings', { path: { id } })
  return (
    <section class="card stack narrow" aria-labelledby="privacy">
      <h2 id="privacy">Who sees each person’s numbers</h2>
      <Loaded response={response} height={200}>
        {(state) => (
          <>
            {role === 'admin' ? (
              // Another admin's change starts the form over.
              <Choice key={state.activity_privacy} state={state} again={response.again} />
            ) : (
              <div>
                {levels.map(
                  ([level, title, about]) =>
                    level === state.activity_privacy && (
                      <p key={level}>
                        <strong>{title}.</strong> {about}
                      </p>
                    ),
                )}
              </div>
            )}
            <p class="small muted">
              In effect since {time(state.activity_privacy_since)}. {sinceText(workspace)} Every member can
              see this. What is recorded about you, and who has viewed it, is under{' '}
              <a href="/account/privacy">Privacy and data</a>.
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}

const Choice = ({ state, again }: { state: State; again: () => void }) => {
  const me = useMe()
  const { id, member_count } = useWorkspace()
  const [chosen, choose] = useState<Level>(state.activity_privacy)
  const [asking, ask] = useState(false)
  const isChanged = chosen !== state.activity_privacy
  const save = async () => {
    await call('PATCH /api/team/workspaces/{id}/settings', {
      path: { id },
      body: { activity_privacy: chosen },
    })
    again()
    me.again()
    toast('Privacy level saved')
  }
  return (
    <>
      <Unsaved isChanged={isChanged} />
      {asking && (
        <Confirm
          title={chosen === 'team' ? 'Hide each person’s numbers?' : 'Show numbers by name?'}
          action={chosen === 'team' ? 'Hide numbers' : 'Show numbers'}
          isHarmless={chosen === 'team'}
          onClose={() => ask(false)}
          onYes={save}
        >
          <p>{consequenceOf(chosen)}</p>
          <p>Every member can see this change and when it took effect.</p>
        </Confirm>
      )}
      <Form class="stack tight" onSubmit={() => isChanged && ask(true)}>
        <fieldset class="stack tight">
          <legend class="away">Privacy level</legend>
          {levels.map(([level, title, about]) => (
            <label key={level} class="check">
              <input
                type="radio"
                name="privacy"
                aria-label={title}
                aria-describedby={`privacy-${level}`}
                checked={chosen === level}
                onChange={() => choose(level)}
              />
              <span>
                <strong>{title}</strong>
                <span id={`privacy-${level}`} class="small muted">
                  {about}
                  {smallTeamText(level, member_count)}
                </span>
              </span>
            </label>
          ))}
        </fieldset>
        {isChanged && <p class="note">{consequenceOf(chosen)}</p>}
        <div>
          <button type="submit" class="primary" aria-disabled={!isChanged}>
            Save privacy level
          </button>
        </div>
      </Form>
    </>
  )
}

/** Explains what a privacy-level change does, and starting when. */
const consequenceOf = (level: Level): string =>
  level === 'team'
    ? 'From now on, no one sees another person’s numbers, including those of past days. Admins see only the team’s weekly numbers. If you switch back later, all days until the end of that week stay hidden.'
    : `From ${fullDay(namesSince(utcDay()))} on, admins see each person’s daily numbers by name. Earlier days stay hidden.`

const levels = [
  ['team', levelNames.team, consent.team],
  ['named', levelNames.named, consent.named],
] as const
