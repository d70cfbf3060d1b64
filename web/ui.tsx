/** Components that several screens use. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { splitRepoPath } from '../client/src/pattern.js'
import { announce } from './announce.js'
import { ended, expired, type Failure, offline, useAction } from './api.js'
import { count, percent } from './format.js'
import { focusElement, focusFirstIn, releaseFocus } from './keyboard.js'

const arrows = { down: 'M1 3l4 4 4-4', up: 'M1 7l4-4 4 4', left: 'M7 1L3 5l4 4', right: 'M3 1l4 4-4 4' }

/** Drawn as SVG, because not every font has arrows. */
export const Arrow = ({ to = 'down' }: { to?: keyof typeof arrows }) => (
  <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
    <path d={arrows[to]} fill="none" stroke="currentcolor" stroke-width="1.5" />
  </svg>
)

/** The product's logo. */
export const Mark = () => (
  <svg class="mark" width="24" height="24" viewBox="0 0 16 16" aria-hidden="true">
    <rect width="16" height="16" rx="4" />
    <path d="M4 11V8M8 11V4M12 11V6" />
  </svg>
)

export const DownloadIcon = () => (
  <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
    <path d="M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10" fill="none" stroke="currentcolor" stroke-width="1.5" />
  </svg>
)

/** An arrow, and its meaning in words. */
export const UpOrDown = ({ isUp }: { isUp: boolean }) => (
  <>
    <svg class="change" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      <path d={isUp ? 'M5 9.5v-8M1.5 5L5 1.5 8.5 5' : 'M5 .5v8M1.5 5L5 8.5 8.5 5'} />
    </svg>{' '}
    <span class="away">{isUp ? 'Up' : 'Down'}</span>
  </>
)

/** The change since the days before, such as `↑ 12% vs 40 h` or `1 more than before`. Empty if they had nothing. */
export const Change = (props: {
  /** The number that is shown. It differs from `now` if it includes today. */
  total: number | null | undefined
  now: number | null | undefined
  before: number | null | undefined
  write: (value: number | null) => string
  /** Whether the numbers are people, for which a percentage says little. */
  isPeople?: boolean
}) => {
  const { total, now, before, write } = props
  if (now == null || before === 0 || before === undefined) return null
  if (now === before) return <>no change</>
  if (before === null) return <>hidden before</>
  const isUp = now > before
  if (props.isPeople)
    return (
      <>
        {count(Math.abs(now - before))} {isUp ? 'more' : 'fewer'} than before
        {now !== total && ', without today'}
      </>
    )
  const share = Math.abs(now - before) / before
  return (
    <>
      <UpOrDown isUp={isUp} /> {shareText(share)}
      {now !== total && `: ${write(now)}`} vs {write(before)}
    </>
  )
}

/** The change as text. For large changes, exact digits are meaningless. */
const shareText = (share: number): string => {
  if (share < 0.005) return `<${percent(0.01)}`
  return share < 10 ? percent(share) : `>${percent(9.99)}`
}

export type Letters = ReadonlyMap<string, string>

const OTHERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** The first two letters of a name that aren't taken, or else others. */
const freeLetters = (login: string, taken: ReadonlySet<string>): string => {
  const own = login.toUpperCase().match(/[\p{L}\p{N}]/gu) ?? ['?']
  const [first = '?', ...rest] = own
  if (rest.length === 0 && !taken.has(first)) return first
  for (const one of [...own, ...OTHERS])
    for (const other of [...rest, ...OTHERS]) if (!taken.has(one + other)) return one + other
  return first
}

/** Letters for each person that no one else in the list has. */
export const lettersOf = (logins: readonly string[]): Letters => {
  const taken = new Set<string>()
  return new Map(
    logins.toSorted().map((login) => {
      const letters = freeLetters(login, taken)
      taken.add(letters)
      return [login, letters]
    }),
  )
}

/** Letters on a color derived from the login. Pictures aren't loaded from other hosts. */
export const Person = ({ login, letters = lettersOf([login]) }: { login: string; letters?: Letters }) => (
  <span class="who">
    <span
      class="face"
      style={{
        '--hue': String(
          [...login.toLowerCase()].reduce((hue, char) => (hue * 31 + (char.codePointAt(0) ?? 0)) % 360, 0),
        ),
      }}
      aria-hidden="true"
    >
      {letters.get(login)}
    </span>
    <bdi class="text" title={login}>
      {login}
    </bdi>
  </span>
)

/** A longer owner would leave no space for the repository's name. Keep the end too: many owners share a prefix. */
const LONG_OWNER = 20
const shorten = (owner: string) =>
  owner.length > LONG_OWNER ? `${owner.slice(0, LONG_OWNER / 2)}…${owner.slice(-LONG_OWNER / 2)}` : owner

/** A repository with its owner muted, so that the name stands out. */
export const RepoName = ({ repo }: { repo: string }) => {
  const { owner, repo: name } = splitRepoPath(repo)
  return (
    <bdi class="text" title={repo}>
      <span class="muted">{breakable(`${shorten(owner)}/`)}</span>
      {breakable(name)}
    </bdi>
  )
}

/** A text that can break between its parts. */
export const breakable = (text: string, between = /(?<=[/.-])/) =>
  text.split(between).map((part, index) => (
    <>
      {index > 0 && <wbr />}
      {part}
    </>
  ))

/** A placeholder with the final size while content loads. */
export const Skeleton = ({ height }: { height: number }) => (
  <div class="wait" style={{ height: `${height}px` }}>
    <span class="away">Loading</span>
  </div>
)

/** The placeholder for a screen with figures and charts. */
export const NumbersSkeleton = (props: { isTeam?: boolean; children?: ComponentChildren }) => (
  <div class="stack skeleton">
    <div class="wait tiles">
      <span class="away">Loading</span>
    </div>
    {props.isTeam && <div class="wait changes" />}
    <div class="lead">
      <Skeleton height={340} />
      <Skeleton height={340} />
    </div>
    {props.children}
  </div>
)

/**
 * A ref that scrolls content into view that needs an answer. It may be far above the pressed button, or under a sticky
 * one.
 */
export const showAtOnce = (element: HTMLElement | null) => element?.scrollIntoView({ block: 'nearest' })

/** Says what happened and what to do. Pass `again` for calls that are safe to repeat. */
export const FailureNote = ({ failure, again }: { failure: Failure; again?: (() => void) | undefined }) => {
  // The frame already says this for the whole page.
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
            Request ID <span class="mono">{failure.requestId}</span>
          </span>
        )}
      </div>
    </div>
  )
}

/** The first failure among several related responses. */
export const FailureOf = ({
  response,
}: {
  response: { failure: Failure | undefined; again: () => void }[]
}) => {
  const failed = response.find(({ failure }) => failure)
  return failed?.failure ? <FailureNote failure={failed.failure} again={failed.again} /> : null
}

/** Shows a response, its placeholder, or its failure. After a failure, the last response stays below the message. */
export const Loaded = <T,>(props: {
  response: { data: T | undefined; failure: Failure | undefined; stale: boolean; again: () => void }
  height: number
  children: (data: T) => ComponentChildren
}) => {
  const { data, failure, stale, again } = props.response
  return (
    <>
      {failure && <FailureNote failure={failure} again={again} />}
      {data !== undefined ? (
        <div class={stale ? 'stack stale' : 'stack'} aria-busy={stale}>
          {props.children(data)}
        </div>
      ) : (
        !failure && <Skeleton height={props.height} />
      )}
    </>
  )
}

/** A button that explains the number beside it. */
export const Tip = ({ about, children }: { about: string; children: ComponentChildren }) => {
  const id = useId()
  return (
    <span class="tip">
      <button type="button" popovertarget={id} aria-label={`About ${about}`}>
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentcolor" />
          <path d="M8 7v4.5M8 4.5v1" stroke="currentcolor" stroke-width="1.5" />
        </svg>
      </button>
      <div popover="auto" id={id}>
        {children}
      </div>
    </span>
  )
}

/** A native dialog, open as long as it is mounted. */
export const Dialog = (props: {
  title: string
  /** A class, such as one that stays at the top while its height changes. */
  class?: string
  onClose: () => void
  children: ComponentChildren
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  const id = useId()
  // At once, so that text typed right after the opening key isn't lost.
  useLayoutEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    const element = dialog.current
    // The menu's button gets the focus back, because the menu is gone by then.
    opener?.closest<HTMLElement>('[popover]')?.hidePopover()
    element?.showModal()
    if (!element?.contains(document.activeElement)) focusFirstIn(element)
    return () => {
      isGone.current = true
      // The page keeps its scroll position if nothing had the focus. Otherwise the browser gives the focus back.
      if (opener === document.body) releaseFocus()
      element?.close()
    }
  }, [])
  const first = useRef(props.title)
  // New content is read from the beginning.
  useEffect(() => {
    if (props.title !== first.current) dialog.current?.scrollTo(0, 0)
  }, [props.title])
  return (
    <dialog
      ref={dialog}
      class={props.class}
      aria-labelledby={id}
      onClose={() => isGone.current || props.onClose()}
    >
      <div class="stack">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  )
}

/** A form that the page submits, never the browser. `onSubmit` receives the named fields. */
export const Form = (props: {
  class: string
  onSubmit: (given: FormData) => void
  onInput?: () => void
  children: ComponentChildren
}) => (
  <form
    class={props.class}
    onInput={props.onInput}
    onSubmit={(event) => {
      event.preventDefault()
      // Buttons use `aria-disabled`, because a disabled button loses the focus.
      if (event.submitter?.ariaDisabled === 'true') return
      props.onSubmit(new FormData(event.currentTarget))
    }}
  >
    {props.children}
  </form>
)

export const Card = (props: { id: string; title: string; children: ComponentChildren }) => (
  <section class="card stack tight" aria-labelledby={props.id}>
    <h2 id={props.id}>{props.title}</h2>
    {props.children}
  </section>
)

/** Asks for confirmation, and closes when the action is done. With `word`, the person has to type it. */
export const Confirm = (props: {
  title: string
  action: string
  word?: string
  /** Whether the action destroys nothing. */
  isHarmless?: boolean
  /** Receives the named fields. @throws {Failure} */
  onYes: (given: FormData) => unknown
  onClose: () => void
  /** Details about a failure. */
  explain?: (failure: Failure) => ComponentChildren
  children: ComponentChildren
}) => {
  const { busy, failure, act } = useAction()
  const [typed, type] = useState('')
  const ready = props.word === undefined || typed === props.word
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form
        class="stack"
        onSubmit={async (given) => {
          if (ready && (await act(async () => props.onYes(given)))) props.onClose()
        }}
      >
        <div class="stack tight">{props.children}</div>
        {props.word !== undefined && (
          <label class="field">
            <span>
              Type <bdi class="mono">{props.word}</bdi> to confirm
            </span>
            <input
              class="wide-input"
              value={typed}
              autocomplete="off"
              onInput={(event) => type(event.currentTarget.value)}
            />
          </label>
        )}
        {failure && <FailureNote failure={failure} />}
        {failure && props.explain?.(failure)}
        <div class="row end">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={props.isHarmless ? 'primary' : 'danger'}
            aria-disabled={!ready || busy}
          >
            {props.action}
          </button>
        </div>
      </Form>
    </Dialog>
  )
}

/** A choice between a few options, as a row of buttons. */
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
        data-text={text}
        aria-pressed={value === props.value}
        onClick={() => props.onChoose(value)}
      >
        {text}
      </button>
    ))}
  </fieldset>
)

/** The active filters, each with a button that removes it. */
export const Filters = (props: {
  on: [text: string | undefined, onRemove: () => void][]
  /** A link to the filtered page. */
  children?: ComponentChildren
}) => {
  const on = props.on.filter(([text]) => text)
  if (on.length === 0) return null
  return (
    <ul class="row" aria-label="Filters">
      {on.map(([text, onRemove]) => (
        <li key={text} class="chip">
          <bdi>{text}</bdi>
          <button type="button" aria-label={`Remove filter ${text}`} onClick={onRemove}>
            ×
          </button>
        </li>
      ))}
      {props.children && <li>{props.children}</li>}
    </ul>
  )
}

/** Skip links, visible only on focus. */
export const SkipLinks = ({ to }: { to: [id: string, text: string][] }) => (
  <nav class="jumps" aria-label="On this page">
    {to.map(([id, text]) => (
      <a
        key={id}
        class="away"
        href={`#${id}`}
        onClick={(event) => {
          // The address keeps its query, but not its hash.
          event.preventDefault()
          focusElement(document.getElementById(id))
        }}
      >
        {text}
      </a>
    ))}
  </nav>
)

/** `of` names the item for screen readers, where a page has several of these buttons. */
export const Copy = (props: { text: string; what: string; of?: string; isPrimary?: boolean }) => {
  const { text, what, of, isPrimary = false } = props
  const [result, setResult] = useState('')
  // Browsers don't offer a clipboard on pages without TLS.
  if (!navigator.clipboard) return null
  const copy = async () => {
    const done = await navigator.clipboard.writeText(text).then(
      () => 'Copied',
      () => 'Copy failed',
    )
    setResult(done)
    setTimeout(setResult, 2_000, '')
  }
  return (
    <>
      <button type="button" class={isPrimary ? 'primary' : ''} onClick={copy}>
        {result || `Copy ${what}`}
        {of && <span class="away"> for {of}</span>}
      </button>
      <span class="away" role="status">
        {result}
      </span>
    </>
  )
}

/** A number in a table, with a bar that shows its share of the largest. */
export const Measure = ({ part, children }: { part: number; children: ComponentChildren }) => (
  <span class="measure" style={{ '--part': String(Math.min(1, part)) }}>
    {children}
  </span>
)

export interface Column<Row> {
  name: string
  title: string
  /** Numbers are right-aligned. Their first sort is descending. */
  numeric?: boolean
  /** `wide` hides the column on phones, `wider` also on medium widths. */
  room?: 'wide' | 'wider'
  /** The sort key. A column without a key can't be sorted. */
  by?: (row: Row) => number | string | null
  cell: (row: Row) => ComponentChildren
}

/** A search field for the table below it. */
export const Search = (props: {
  what: string
  query: string
  /** The number of matches, as text. */
  found: string
  onSearch: (text: string) => void
}) => {
  const id = useId()
  return (
    <div class="row">
      <input
        type="search"
        placeholder="Search"
        aria-label={`Search ${props.what}`}
        aria-describedby={id}
        value={props.query}
        onInput={(event) => props.onSearch(event.currentTarget.value)}
      />
      <span id={id} class="hint small muted">
        Press Arrow Down to go to the rows
      </span>
      <span class="away" role="status">
        {props.query && props.found}
      </span>
    </div>
  )
}

/** How many rows are shown first and added at once, and the height of one in pixels. */
const [FIRST, STEP, ROW] = [10, 50, 49]

/** A table with sorting and search. The first column is the row header. */
export const SortedTable = <Row extends object>(props: {
  caption: string
  rows: readonly Row[]
  columns: Column<Row>[]
  keyOf: (row: Row) => string
  /** Whether a row adds up other rows. It stays last, however the table is sorted. */
  isRest?: (row: Row) => boolean
  /** The text to search. Without it, a table has no search. */
  searchText?: (row: Row) => string
  first: string
  /** The first order, unless it is descending. */
  ascending?: boolean
  empty: string
  /** The number of rows that are shown first. */
  shown?: number
  /** A link to the whole list, instead of a button that shows more. */
  all?: ComponentChildren
  /** Content after the last row, such as a button that loads more. */
  children?: ComponentChildren
}) => {
  const [sort, sortBy] = useState({ name: props.first, down: !props.ascending })
  const [query, search] = useState('')
  const first = props.shown ?? FIRST
  const [shown, show] = useState(first)
  const { searchText } = props
  const wanted = query.trim().toLowerCase()
  const found =
    searchText && wanted
      ? props.rows.filter((row) => searchText(row).toLowerCase().includes(wanted))
      : props.rows
  const by = props.columns.find(({ name }) => name === sort.name)?.by
  const isRest = props.isRest ?? (() => false)
  const sorted = by
    ? [...found].sort(
        (a, b) => Number(isRest(a)) - Number(isRest(b)) || compare(by(a), by(b)) * (sort.down ? -1 : 1),
      )
    : found
  // Sorting, searching and loading more reuse rendered rows, which matters with hundreds of them.
  const drawn = useMemo(() => new WeakMap<Row, ComponentChildren>(), [props.columns])
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
    announce(`Sorted by ${title}, ${down ? 'descending' : 'ascending'}`)
    // A sorted table is read from the top, so most rows can be dropped.
    show(Math.min(shown, first + STEP))
  }
  // Long lists render in a separate task, because rendering the whole screen in one would block it.
  const [isOn, turnOn] = useState(props.rows.length <= FIRST)
  useEffect(() => {
    const timer = setTimeout(turnOn, 0, true)
    return () => clearTimeout(timer)
  }, [])
  const body = useRef<HTMLTableSectionElement>(null)
  /** The index of the first row that “Show more” added. */
  const fresh = useRef<number>(undefined)
  useEffect(() => {
    if (fresh.current !== undefined) focusFirstIn(body.current?.rows[fresh.current])
    fresh.current = undefined
  }, [shown])
  return (
    <div class="stack tight">
      {searchText && props.rows.length > 8 && (
        <Search
          what={props.caption}
          query={query}
          found={`${found.length} of ${props.rows.length}`}
          onSearch={search}
        />
      )}
      <div class="scroll" hidden={props.rows.length === 0}>
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
                      {column.name === sort.name && <Arrow to={sort.down ? 'down' : 'up'} />}
                    </button>
                  ) : (
                    column.title
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>{isOn && sorted.slice(0, shown).map(draw)}</tbody>
        </table>
      </div>
      {!isOn && <Skeleton height={ROW * Math.min(shown, sorted.length)} />}
      {sorted.length === 0 && <p class="muted">{wanted ? `No results for “${query}”.` : props.empty}</p>}
      {props.all ?? (
        <ShowMore
          shown={shown}
          total={sorted.length}
          onMore={() => {
            fresh.current = shown
            show(shown + STEP)
          }}
        />
      )}
      {sorted.length <= shown && props.children}
    </div>
  )
}

/** The button below a partially shown list. */
export const ShowMore = ({ shown, total, onMore }: { shown: number; total: number; onMore: () => void }) =>
  total > shown ? (
    <div>
      <button type="button" onClick={onMore}>
        Show more ({count(shown)} of {count(total)})
      </button>
    </div>
  ) : null

const classOf = ({ numeric, room }: { numeric?: boolean; room?: string }) =>
  `${numeric ? 'n' : ''} ${room ?? ''}`

/** Missing values come last in descending order. */
const compare = (a: number | string | null, b: number | string | null): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  return typeof a === 'string' ? a.localeCompare(String(b)) : a - Number(b)
}

/** A button that loads the next page of a list. */
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
