import { useId, useRef } from 'preact/hooks'
import { own } from '../schemas/own.js'
import { comparisons, type Range } from './comparison.js'
import { addDays, days, shortDays, today } from './format.js'
import {
  type ChosenRange,
  calendarRanges,
  isSame,
  linkTo,
  MAX_DAYS,
  presetsOf,
  RANGE_KEYS,
  shiftRange,
  useUrlQuery,
} from './query.js'
import { keyShortcut } from './shortcuts.js'
import { Arrow, Choices, Copy, Form } from './ui.js'

/** Selects a range of days, and a range to compare it with. @param isWeekly only published weeks are shown */
export const RangeChoice = ({
  chosen: { range, problem },
  isWeekly = false,
}: {
  chosen: ChosenRange
  isWeekly?: boolean
}) => {
  const { query, change } = useUrlQuery()
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const presets = presetsOf(isWeekly)
  const find = (ranges: [name: string, range: Range][]) =>
    problem ? undefined : ranges.find(([, one]) => isSame(one, range))?.[0]
  const [preset, name] = [find(presets), find(calendarRanges())]
  const choose = (next: Range) => {
    menu.current?.hidePopover()
    change(next)
  }
  const later = shiftRange(range, 1)
  const step = (label: string, key: string, next: Range, isEnd: boolean) => (
    <button
      type="button"
      class="step"
      aria-keyshortcuts={keyShortcut(key)}
      aria-label={label}
      title={isEnd ? label : `${label}: ${days(next.from, next.to)}`}
      aria-disabled={isEnd}
      onClick={() => isEnd || choose(next)}
    >
      <Arrow to={label.startsWith('Previous') ? 'left' : 'right'} />
    </button>
  )
  return (
    <div class="range">
      <Choices
        label="Range"
        options={presets.map(([name]) => [name, name] as const)}
        value={preset}
        onChoose={(name) => choose(presets.find(([one]) => one === name)?.[1] ?? range)}
      />
      <button type="button" popovertarget={id} aria-pressed={preset === undefined}>
        {(preset === undefined && name) || (
          <span>
            {preset === undefined && !problem ? (
              <>
                <span class="away">Custom range: </span>
                {shortDays(range.from, range.to)}
              </>
            ) : (
              <>
                Custom<span class="away"> range</span>
              </>
            )}
          </span>
        )}
        <Arrow />
      </button>
      <span class="steps-of-range">
        {step('Previous range', ',', shiftRange(range, -1), false)}
        {step('Next range', '.', later, later.from > today())}
      </span>
      <div popover="auto" class="end" id={id} ref={menu}>
        <div class="stack tight">
          <ul class="named">
            {calendarRanges().map(([name, range]) => (
              <li key={name}>
                <button
                  type="button"
                  aria-keyshortcuts={keyShortcut(own(RANGE_KEYS, name))}
                  onClick={() => choose(range)}
                >
                  {name}
                </button>
              </li>
            ))}
          </ul>
          <Form
            class="row low"
            onSubmit={(given) => {
              choose({ from: String(given.get('from')), to: String(given.get('to')) })
            }}
          >
            <label class="field">
              From
              <input
                type="date"
                name="from"
                required
                max={range.to}
                min={addDays(range.to, 1 - MAX_DAYS)}
                defaultValue={range.from}
                onInput={(event) => limitEnd(event.currentTarget)}
              />
            </label>
            <label class="field">
              To
              <input type="date" name="to" required min={range.from} max={today()} defaultValue={range.to} />
            </label>
            <button type="submit" class="primary">
              Apply range
            </button>
          </Form>
          <label class="field">
            Compare with
            <select
              value={query.compare ?? ''}
              onChange={(event) => {
                menu.current?.hidePopover()
                change({ compare: event.currentTarget.value })
              }}
            >
              {comparisons.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <div>
            <Copy text={linkTo(range, isWeekly)} what="link" />
          </div>
          <p class="small muted">
            At most {MAX_DAYS} days. Each person’s days are in their own time zone.
            {isWeekly && ' This page shows only whole weeks.'}
          </p>
        </div>
      </div>
    </div>
  )
}

/** The end must not be before the start. The browser shows the message. */
const limitEnd = (from: HTMLInputElement) => {
  const to = from.form?.elements.namedItem('to') as HTMLInputElement | null
  if (to) to.min = from.value
}

/** Says what's wrong with the address's range, and offers the nearest valid one. */
export const RangeProblem = ({ chosen: { range, problem } }: { chosen: ChosenRange }) => {
  const { change } = useUrlQuery()
  return (
    <div class="note fault row apart" role="alert">
      <span>
        <strong>Invalid date range.</strong> {problem}
      </span>
      <button type="button" onClick={() => change(range)}>
        Show {days(range.from, range.to)}
      </button>
    </div>
  )
}
