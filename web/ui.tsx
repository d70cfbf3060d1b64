/** The small parts that all screens are made of. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { announce } from './announce.js'
import { ended, expired, type Failure, offline } from './api.js'
import { goInto, goTo } from './keyboard.js'

/** Drawn, because not every font has one. */
export const Arrow = ({ up = false }: { up?: boolean }) => (
  <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
    <path d={up ? 'M1 7l4-4 4 4' : 'M1 3l4 4 4-4'} fill="none" stroke="currentcolor" stroke-width="1.5" />
  </svg>
)

/** A person, by initials on a colour of their login: no pictures from elsewhere. */
export const Face = ({ login }: { login: string }) => {
  let hue = 0
  for (const char of login.toLowerCase()) hue = (hue * 31 + (char.codePointAt(0) ?? 0)) % 360
  const initials = [...login.replace(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('').toUpperCase() || '?'
  return (
    <span class="face" style={{ '--hue': String(hue) }} aria-hidden="true">
      {initials}
    </span>
  )
}

export const Person = ({ login }: { login: string }) => (
  <span class="who">
    <Face login={login} />
    <bdi class="text" title={login}>
      {login}
    </bdi>
  </span>
)

/** A repository: what tells it from its neighbours is the name. */
export const RepoName = ({ repo }: { repo: string }) => {
  const [owner, ...name] = repo.split('/')
  return (
    <bdi class="text" title={repo}>
      <span class="muted">{owner}/</span>
      <wbr />
      {name.join('/')}
    </bdi>
  )
}

/** A thing of the final size while its content is on the way. */
export const Wait = ({ height }: { height: number }) => (
  <div class="wait" style={{ height: `${height}px` }}>
    <span class="away">Loading</span>
  </div>
)

/** The place of the figures at the head of a screen of numbers, and of what is below them. */
export const WaitForNumbers = ({ children }: { children?: ComponentChildren }) => (
  <div class="stack skeleton">
    <div class="wait tiles">
      <span class="away">Loading</span>
    </div>
    <div class="lead">
      <Wait height={340} />
      <Wait height={340} />
    </div>
    {children}
  </div>
)

/** What went wrong and what to do; `again` is for what is safe to repeat. */
export const FailureNote = ({ failure, again }: { failure: Failure; again?: (() => void) | undefined }) => {
  // The frame says so for the whole page.
  if (again && failure.code === 'unreachable' && offline.value) return null
  if (failure.isEnd && (expired.value || !ended.value)) return null
  return (
    <div class="note fault stack tight" role="alert">
      <div>
        <strong>{failure.title}.</strong> {failure.advice}
      </div>
      <div class="row">
        {failure.isEnd ? (
          <button
            type="button"
            onClick={() => {
              expired.value = true
            }}
          >
            Sign in
          </button>
        ) : (
          again && (
            <button type="button" onClick={again}>
              Try again
            </button>
          )
        )}
        {failure.requestId && (
          <span class="small muted">
            Request <span class="mono">{failure.requestId}</span>
          </span>
        )}
      </div>
    </div>
  )
}

/** What one of several answers that belong together failed with, and the way to ask for it again. */
export const FailureOf = ({ asked }: { asked: { failure: Failure | undefined; again: () => void }[] }) => {
  const failed = asked.find(({ failure }) => failure)
  return failed?.failure ? <FailureNote failure={failed.failure} again={failed.again} /> : null
}

/** Shows the answer, or a place of its size, or what went wrong; what was seen stays below the trouble. */
export const Shown = <T,>(props: {
  asked: { data: T | undefined; failure: Failure | undefined; stale: boolean; again: () => void }
  height: number
  children: (data: T) => ComponentChildren
}) => {
  const { data, failure, stale, again } = props.asked
  return (
    <>
      {failure && <FailureNote failure={failure} again={again} />}
      {data !== undefined ? (
        <div class={stale ? 'stack stale' : 'stack'} aria-busy={stale}>
          {props.children(data)}
        </div>
      ) : (
        !failure && <Wait height={props.height} />
      )}
    </>
  )
}

/** What a number means, beside it. */
export const Tip = ({ about, children }: { about: string; children: ComponentChildren }) => {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const text = useRef<HTMLDivElement>(null)
  const place = () => {
    const [box, tip] = [button.current?.getBoundingClientRect(), text.current]
    if (!box || !tip) return
    tip.style.inset = `${box.bottom + 4}px auto auto ${Math.max(12, Math.min(box.left, innerWidth - 332))}px`
  }
  return (
    <span class="tip">
      <button type="button" ref={button} popovertarget={id} aria-label={`About ${about}`} onClick={place}>
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentcolor" />
          <path d="M8 7v4.5M8 4.5v1" stroke="currentcolor" stroke-width="1.5" />
        </svg>
      </button>
      <div popover="auto" id={id} ref={text} onBeforeToggle={place}>
        {children}
      </div>
    </span>
  )
}

/** A native dialog that is open as long as it is there. */
export const Dialog = (props: { title: string; onClose: () => void; children: ComponentChildren }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    dialog.current?.showModal()
    return () => opener?.focus()
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={props.onClose}>
      <div class="stack">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  )
}

/** A form that is sent by a call and never by the browser; `onSubmit` gets what its named fields hold. */
export const Form = (props: {
  class: string
  onSubmit: (given: FormData) => void
  children: ComponentChildren
}) => (
  <form
    class={props.class}
    onSubmit={(event) => {
      event.preventDefault()
      // A button that cannot be pressed now keeps the keyboard, which a disabled one would lose.
      if (event.submitter?.ariaDisabled === 'true') return
      props.onSubmit(new FormData(event.currentTarget))
    }}
  >
    {props.children}
  </form>
)

/** Asks before something that cannot be taken back; with `word`, it has to be typed. */
export const Confirm = (props: {
  title: string
  action: string
  word?: string
  busy: boolean
  failure: Failure | undefined
  onYes: () => void
  onNo: () => void
  children: ComponentChildren
}) => {
  const [typed, type] = useState('')
  const ready = props.word === undefined || typed === props.word
  return (
    <Dialog title={props.title} onClose={props.onNo}>
      <Form
        class="stack"
        onSubmit={() => {
          if (ready) props.onYes()
        }}
      >
        <div class="stack tight">{props.children}</div>
        {props.word !== undefined && (
          <label class="field">
            <span>
              Type <bdi class="mono">{props.word}</bdi> to go on
            </span>
            <input
              class="wide-input"
              value={typed}
              autocomplete="off"
              onInput={(event) => type(event.currentTarget.value)}
            />
          </label>
        )}
        {props.failure && <FailureNote failure={props.failure} />}
        <div class="row end">
          <button type="button" onClick={props.onNo}>
            Cancel
          </button>
          <button type="submit" class="danger" aria-disabled={!ready || props.busy}>
            {props.action}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

/** One of a few, as buttons beside each other. */
export const Choices = <T extends string>(props: {
  label: string
  options: readonly (readonly [value: T, text: string])[]
  value: T | undefined
  onChoose: (value: T) => void
}) => (
  <fieldset class="choices" aria-label={props.label}>
    {props.options.map(([value, text]) => (
      <button
        type="button"
        key={value}
        class="plain"
        aria-pressed={value === props.value}
        onClick={() => props.onChoose(value)}
      >
        {text}
      </button>
    ))}
  </fieldset>
)

/** The filters that are on, each with the way to take it back. */
export const Filters = (props: { on: [text: string | undefined, onRemove: () => void][] }) => {
  const on = props.on.filter(([text]) => text)
  if (on.length === 0) return null
  return (
    <ul class="row" aria-label="Filters">
      {on.map(([text, onRemove]) => (
        <li key={text} class="chip">
          <bdi>{text}</bdi>
          <button type="button" aria-label={`Remove the filter ${text}`} onClick={onRemove}>
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Ways past what is in between, seen while the keyboard is on them. */
export const Jumps = ({ to }: { to: [id: string, text: string][] }) => (
  <nav class="jumps" aria-label="On this page">
    {to.map(([id, text]) => (
      <a
        key={id}
        class="away"
        href={`#${id}`}
        onClick={(event) => {
          // The address says what is shown, and stays as it is.
          event.preventDefault()
          goTo(document.getElementById(id))
        }}
      >
        {text}
      </a>
    ))}
  </nav>
)

/** `of` tells it from others to who does not see what it stands beside. */
export const Copy = ({ text, what, of }: { text: string; what: string; of?: string }) => {
  const [said, say] = useState('')
  // Browsers have none on pages without TLS.
  if (!navigator.clipboard) return null
  const copy = async () => {
    const done = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'The browser refused',
    )
    say(done)
    setTimeout(say, 2_000, '')
  }
  return (
    <>
      <button type="button" onClick={copy}>
        {said || `Copy ${what}`}
        {of && <span class="away"> of {of}</span>}
      </button>
      <span class="away" role="status">
        {said}
      </span>
    </>
  )
}

/** Numbers of a member of a list, with a bar of its share of the largest. */
export const Measure = ({
  part,
  tone,
  children,
}: {
  part: number
  tone?: string
  children: ComponentChildren
}) => (
  <span class={`measure ${tone ?? ''}`} style={{ '--part': String(part) }}>
    {children}
  </span>
)

export interface Column<Row> {
  name: string
  title: string
  /** Numbers are right-aligned and sorted downwards first. */
  numeric?: boolean
  /** Where it is shown: `wide` not on a phone, `wider` only with much room. */
  room?: 'wide' | 'wider'
  /** What it is sorted by; without it, it cannot be sorted. */
  by?: (row: Row) => number | string | null
  cell: (row: Row) => ComponentChildren
}

/** Finds rows of the table below it. */
export const Search = (props: {
  what: string
  sought: string
  /** How many there are, in words. */
  found: string
  onSeek: (text: string) => void
}) => {
  const id = useId()
  return (
    <div class="row">
      <input
        type="search"
        placeholder="Search"
        aria-label={`Search ${props.what}`}
        aria-describedby={id}
        value={props.sought}
        onInput={(event) => props.onSeek(event.currentTarget.value)}
      />
      <span id={id} class="hint small muted">
        Arrow down goes to the rows
      </span>
      <span class="away" role="status">
        {props.sought && props.found}
      </span>
    </div>
  )
}

const [FIRST, STEP] = [10, 50]

/** A table that sorts and searches by itself; the first column names the row. */
export const SortedTable = <Row,>(props: {
  caption: string
  rows: readonly Row[]
  columns: Column<Row>[]
  keyOf: (row: Row) => string
  /** What a search looks in; without it there is none. */
  searched?: (row: Row) => string
  first: string
  empty: string
}) => {
  const [sort, sortBy] = useState({ name: props.first, down: true })
  const [sought, seek] = useState('')
  const [shown, show] = useState(FIRST)
  const { searched } = props
  const wanted = sought.trim().toLowerCase()
  const found =
    searched && wanted ? props.rows.filter((row) => searched(row).toLowerCase().includes(wanted)) : props.rows
  const by = props.columns.find(({ name }) => name === sort.name)?.by
  const sorted = by ? [...found].sort((a, b) => compare(by(a), by(b)) * (sort.down ? -1 : 1)) : found
  // Hundreds of rows are sorted and searched without being drawn anew.
  const drawn = useMemo(() => new Map<Row, ComponentChildren>(), [props.rows, props.columns])
  const draw = (row: Row) => {
    const known = drawn.get(row)
    if (known) return known
    const fresh = (
      <tr key={props.keyOf(row)}>
        {props.columns.map((column, index) =>
          index === 0 ? (
            <th key={column.name} scope="row">
              {column.cell(row)}
            </th>
          ) : (
            <td key={column.name} class={classOf(column)}>
              {column.cell(row)}
            </td>
          ),
        )}
      </tr>
    )
    drawn.set(row, fresh)
    return fresh
  }
  const toggle = ({ name, title, numeric = false }: Column<Row>) => {
    const down = sort.name === name ? !sort.down : numeric
    sortBy({ name, down })
    announce(`Sorted by ${title}, ${down ? 'downwards' : 'upwards'}`)
    // What was sorted is read from its top.
    show(Math.min(shown, FIRST + STEP))
  }
  const body = useRef<HTMLTableSectionElement>(null)
  /** The first of the rows that were asked for. */
  const fresh = useRef<number>(undefined)
  useEffect(() => {
    if (fresh.current !== undefined) goInto(body.current?.rows[fresh.current])
    fresh.current = undefined
  }, [shown])
  return (
    <div class="stack tight">
      {searched && props.rows.length > 8 && (
        <Search
          what={props.caption}
          sought={sought}
          found={`${found.length} of ${props.rows.length}`}
          onSeek={seek}
        />
      )}
      <div class="scroll">
        <table>
          <caption class="away">{props.caption}</caption>
          <thead>
            <tr>
              {props.columns.map((column) => (
                <th
                  key={column.name}
                  scope="col"
                  class={classOf(column)}
                  aria-sort={
                    column.name === sort.name && column.by
                      ? sort.down
                        ? 'descending'
                        : 'ascending'
                      : undefined
                  }
                >
                  {column.by ? (
                    <button type="button" onClick={() => toggle(column)}>
                      {column.title}
                      {column.name === sort.name && <Arrow up={!sort.down} />}
                    </button>
                  ) : (
                    column.title
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>{sorted.slice(0, shown).map(draw)}</tbody>
        </table>
      </div>
      {sorted.length === 0 && <p class="muted">{wanted ? `Nothing is called “${sought}”.` : props.empty}</p>}
      {sorted.length > shown && (
        <div>
          <button
            type="button"
            onClick={() => {
              fresh.current = shown
              show(shown + STEP)
            }}
          >
            Show more of {sorted.length}
          </button>
        </div>
      )}
    </div>
  )
}

const classOf = ({ numeric, room }: { numeric?: boolean; room?: string }) =>
  `${numeric ? 'n' : ''} ${room ?? ''}`

/** What is not there comes last when sorted downwards. */
const compare = (a: number | string | null, b: number | string | null): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  return typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b)
}

/** The way to the next page of a list. */
export const More = (props: {
  more: (() => unknown) | undefined
  busy: boolean
  failure: Failure | undefined
}) => (
  <>
    {props.failure && <FailureNote failure={props.failure} />}
    {props.more && (
      <div>
        <button type="button" onClick={() => props.more?.()} aria-disabled={props.busy}>
          Show more
        </button>
      </div>
    )}
  </>
)
