import { useId, useRef } from 'preact/hooks'
import { addDays, daysBetween, today } from './format.js'
import { lastDays, namedRanges, type Range } from './query.js'
import { Arrow, Choices, Form } from './ui.js'

const presets = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'Year'],
] as const

const LONGEST_DAYS = 366
/** Includes a margin. */
const MENU_WIDTH = 384

/** Selects the range of days. */
export const RangeChoice = ({ range, onChoose }: { range: Range; onChoose: (range: Range) => void }) => {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const named = namedRanges()
  const name = named.find(([, { from, to }]) => from === range.from && to === range.to)?.[0]
  const length = daysBetween(range.from, range.to) + 1
  const preset = range.to === today() ? presets.find(([days]) => Number(days) === length)?.[0] : undefined
  const place = () => {
    const at = button.current?.getBoundingClientRect()
    if (!at || !menu.current) return
    const right = Math.max(12, Math.min(innerWidth - at.right, innerWidth - MENU_WIDTH))
    menu.current.style.inset = `${at.bottom + 4}px ${right}px auto auto`
  }
  const choose = (chosen: Range) => {
    menu.current?.hidePopover()
    onChoose(chosen)
  }
  return (
    <div class="range">
      <Choices
        label="Range"
        options={presets}
        value={preset}
        onChoose={(days) => choose(lastDays(Number(days)))}
      />
      <button type="button" ref={button} popovertarget={id} aria-pressed={preset === undefined}>
        {(preset === undefined && name) || (
          <span>
            Custom<span class="away"> range</span>
          </span>
        )}
        <Arrow />
      </button>
      <div popover="auto" id={id} ref={menu} onBeforeToggle={place}>
        <div class="stack tight">
          <ul>
            {named.map(([name, range]) => (
              <li key={name}>
                <button type="button" onClick={() => choose(range)}>
                  {name}
                </button>
              </li>
            ))}
          </ul>
          <Form
            class="row"
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
                min={addDays(range.to, 1 - LONGEST_DAYS)}
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
          <p class="small muted">At most 366 days. Days are in UTC.</p>
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
