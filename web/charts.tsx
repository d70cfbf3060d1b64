/** SVG charts. Each has a caption, values by pointer and arrow keys, and a table for people who cannot see it. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { compact, count, duration, HIDDEN, longWeekdays, weekdays } from './format.js'

/** The current width of an element. */
const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, set] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    set(element.clientWidth)
    const observer = new ResizeObserver(() => set(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

/** The index that a key moves to. undefined for other keys. */
const targetOf = (key: string, down: number, last: number, at: number): number | undefined => {
  const targets: Record<string, number> = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    ArrowDown: at + down,
    ArrowUp: at - down,
    Home: 0,
    End: last,
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.max(0, Math.min(last, target))
}

/** A drawing whose values are read one by one. For keyboards and screen readers it is a slider. */
const Readable = (props: {
  label: string
  count: number
  /** How far the up and down keys move. */
  down: number
  at: number | undefined
  /** The index that is read first. */
  first: number
  onMove: (at: number | undefined) => void
  textOf: (at: number) => string
  /** Shown while no value is selected. */
  hint: ComponentChildren
  children: ComponentChildren
}) => {
  const { at, count, first, onMove } = props
  return (
    <>
      <div
        role="slider"
        tabIndex={0}
        aria-label={props.label}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={at ?? first}
        aria-valuetext={props.textOf(at ?? first)}
        onFocus={() => at === undefined && onMove(first)}
        onBlur={() => onMove(undefined)}
        onPointerLeave={(event) => event.currentTarget !== document.activeElement && onMove(undefined)}
        onKeyDown={(event) => {
          const target = targetOf(event.key, props.down, count - 1, at ?? first)
          if (target === undefined) return
          event.preventDefault()
          onMove(target)
        }}
      >
        {props.children}
      </div>
      <p class="reading muted" aria-hidden="true">
        {at === undefined ? props.hint : props.textOf(at)}
      </p>
    </>
  )
}

export interface Point {
  /** The label on the axis, such as `3 Nov`. */
  name: string
  /** The label in texts, such as `Mon, 3 Nov 2026`. */
  title: string
  value: number | null
  /** The value in the previous range. */
  previous?: number | null | undefined
}

/** Round numbers from 0 to at least `max`, in multiples of `unit`. */
export const ticksOf = (max: number, unit: number): number[] => {
  const rough = Math.max(max, unit) / unit / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, [1, 2, 3, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough) * unit
  return Array.from({ length: Math.max(1, Math.ceil(max / step - 1e-9)) + 1 }, (_, index) => index * step)
}

/** The first and last index of each run of values. */
const runsOf = (points: Point[]): [first: number, last: number][] => {
  const runs: [number, number][] = []
  for (const [index, { value }] of points.entries()) {
    const current = runs.at(-1)
    if (value === null) continue
    if (current?.[1] === index - 1) current[1] = index
    else runs.push([index, index])
  }
  return runs
}

const HEIGHT = 220
const [TOP, BOTTOM, LEFT] = [8, 24, 44]

/** A line over time with the previous range as a faint line, or columns. */
export const Trend = (props: {
  label: string
  tone: string
  points: Point[]
  /** Formats a value. */
  write: (value: number | null) => string
  /** 60 if values are minutes and the axis shows hours. */
  unit?: number
  columns?: boolean
}) => {
  const { points, write, unit = 1 } = props
  const [ref, width] = useWidth()
  const [at, move] = useState<number>()
  const values = points.flatMap(({ value, previous }) => [value ?? 0, previous ?? 0])
  const ticks = ticksOf(Math.max(0, ...values), unit)
  const max = ticks.at(-1) || 1
  const inner = Math.max(0, width - LEFT)
  const slot = inner / Math.max(1, points.length)
  const x = (index: number) =>
    LEFT + (props.columns ? slot * (index + 0.5) : (inner * index) / Math.max(1, points.length - 1))
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / max)
  const path = (pick: (point: Point, index: number) => number | null | undefined) => {
    let pen = 'M'
    return points
      .map((point, index) => {
        const value = pick(point, index)
        if (value == null) {
          pen = 'M'
          return ''
        }
        const drawn = `${pen}${x(index).toFixed(1)} ${y(value).toFixed(1)}`
        pen = 'L'
        return drawn
      })
      .join('')
  }
  const line = path(({ value }) => value)
  // Hidden numbers leave a gap. A single number between gaps is drawn as a dot.
  const runs = runsOf(points)
  const every = Math.max(1, Math.ceil((points.length * 64) / Math.max(1, inner)))
  const point = at === undefined ? undefined : points[at]
  const compared = points.some(({ previous }) => previous)
  const textOf = (index: number) => {
    const { title = '', value = null, previous } = points[index] ?? {}
    return `${title}: ${write(value)}${previous == null ? '' : ` (previous: ${write(previous)})`}`
  }
  return (
    <figure class={`chart ${props.tone}`}>
      <figcaption class="away">{props.label}</figcaption>
      <Readable
        label={props.label}
        count={points.length}
        down={-7}
        at={at}
        first={points.length - 1}
        onMove={move}
        textOf={textOf}
        hint={`${compared && !props.columns ? 'Dashed line: previous range. ' : ''}Hover or use the arrow keys to read a value.`}
      >
        <div ref={ref}>
          <svg
            height={HEIGHT}
            aria-hidden="true"
            onPointerMove={(event) => {
              const place = event.offsetX - LEFT
              const index = props.columns
                ? Math.floor(place / slot)
                : Math.round((place / inner) * (points.length - 1))
              move(Math.max(0, Math.min(points.length - 1, index)))
            }}
          >
            {width > 0 && (
              <>
                {ticks.map((tick) => (
                  <g key={tick}>
                    <line class="grid" x1={LEFT} x2={width} y1={y(tick)} y2={y(tick)} />
                    <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
                      {unit === 60 ? `${count(tick / 60)} h` : count(tick)}
                    </text>
                  </g>
                ))}
                {points.map(
                  ({ name }, index) =>
                    index % every === 0 && (
                      <text
                        key={name}
                        x={x(index)}
                        y={HEIGHT - 6}
                        text-anchor={
                          !props.columns && index === 0
                            ? 'start'
                            : index + 1 === points.length
                              ? 'end'
                              : 'middle'
                        }
                      >
                        {name}
                      </text>
                    ),
                )}
                {props.columns ? (
                  points.map(({ name, value }, index) => (
                    <rect
                      key={name}
                      class="column"
                      x={x(index) - slot * 0.38}
                      width={slot * 0.76}
                      y={y(value ?? 0)}
                      height={Math.max(0, y(0) - y(value ?? 0))}
                      rx={Math.min(3, slot / 4)}
                    />
                  ))
                ) : (
                  <>
                    {compared && <path class="before" d={path(({ previous }) => previous)} />}
                    {runs.map(([first, last]) =>
                      first === last ? (
                        <circle
                          key={first}
                          class="dot"
                          cx={x(first)}
                          cy={y(points[first]?.value ?? 0)}
                          r="3"
                        />
                      ) : (
                        <path
                          key={first}
                          class="area"
                          d={`${path((point, index) => (index < first || index > last ? null : point.value))}L${x(last)} ${y(0)}L${x(first)} ${y(0)}Z`}
                        />
                      ),
                    )}
                    <path class="line" d={line} />
                  </>
                )}
                {at !== undefined && point && (
                  <>
                    <line class="cursor" x1={x(at)} x2={x(at)} y1={TOP} y2={y(0)} />
                    {point.value !== null && <circle class="dot" cx={x(at)} cy={y(point.value)} r="5" />}
                  </>
                )}
              </>
            )}
          </svg>
        </div>
      </Readable>
      <AsTable caption={props.label} head={compared ? ['Date', 'Value', 'Previous'] : ['Date', 'Value']}>
        {() =>
          points.map(({ title, value, previous }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td class="n">{write(value)}</td>
              {compared && <td class="n">{previous == null ? '' : write(previous)}</td>}
            </tr>
          ))
        }
      </AsTable>
    </figure>
  )
}

/** The same numbers as a table, rendered when opened. */
const AsTable = (props: { caption: string; head: string[]; children: () => ComponentChildren }) => {
  const [open, set] = useState(false)
  return (
    <details onToggle={(event) => set(event.currentTarget.open)}>
      <summary>
        View as table<span class="away">: {props.caption}</span>
      </summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be scrollable by keyboard
        <section class="scroll" aria-label={props.caption} tabIndex={0}>
          <table>
            <caption class="away">{props.caption}</caption>
            <thead>
              <tr>
                {props.head.map((title, index) => (
                  <th key={title} scope="col" class={index > 0 ? 'n' : ''}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{props.children()}</tbody>
          </table>
        </section>
      )}
    </details>
  )
}

const hourName = (hour: number) => `${String(hour).padStart(2, '0')}:00`

const HOURS_LEFT = 36
const DAY_HEIGHT = (HEIGHT - BOTTOM) / 7

/** Five shades, so that neighbours are easy to tell apart. */
const SHADES = [0.2, 0.4, 0.6, 0.8, 1]

const HeatmapHint = () => (
  <>
    Less{' '}
    <svg class="legend" width="76" height="12" aria-hidden="true">
      {SHADES.map((shade, index) => (
        <rect key={shade} class="cell" x={index * 16} width="12" height="12" rx="3" fill-opacity={shade} />
      ))}
    </svg>{' '}
    More. Hover or use the arrow keys to read an hour.
  </>
)

/** Minutes by weekday and hour. */
export const Heatmap = ({
  cells,
  label,
}: {
  cells: { weekday: number; hour: number; minutes: number | null }[]
  label: string
}) => {
  const [at, move] = useState<number>()
  const max = Math.max(1, ...cells.map(({ minutes }) => minutes ?? 0))
  const textOf = (index: number) => {
    const { weekday = 1, hour = 0, minutes } = cells[index] ?? {}
    return `${longWeekdays[weekday - 1]} ${hourName(hour)}: ${duration(minutes)}`
  }
  const [ref, width] = useWidth()
  const across = Math.max(0, width - HOURS_LEFT) / 24
  return (
    <figure class="chart heat">
      <figcaption class="away">{label}</figcaption>
      <Readable
        label={label}
        count={cells.length}
        down={24}
        at={at}
        first={Math.max(
          0,
          cells.findIndex(({ minutes }) => minutes === max),
        )}
        onMove={move}
        textOf={textOf}
        hint={<HeatmapHint />}
      >
        <div ref={ref}>
          <svg height={HEIGHT} aria-hidden="true">
            {width > 0 && (
              <>
                {weekdays.map((name, index) => (
                  <text key={name} x="0" y={(index + 0.5) * DAY_HEIGHT + 3}>
                    {name}
                  </text>
                ))}
                {[0, 6, 12, 18].map((hour) => (
                  <text key={hour} x={HOURS_LEFT + hour * across} y={HEIGHT - 6}>
                    {hourName(hour)}
                  </text>
                ))}
                {cells.map(({ weekday, hour, minutes }, index) => (
                  <rect
                    key={`${weekday} ${hour}`}
                    class={`cell ${minutes ? '' : 'none'} ${index === at ? 'chosen' : ''}`}
                    x={HOURS_LEFT + hour * across}
                    y={(weekday - 1) * DAY_HEIGHT}
                    width={Math.max(0, across - 2)}
                    height={DAY_HEIGHT - 2}
                    rx="3"
                    fill-opacity={minutes ? SHADES[Math.min(4, Math.floor((minutes / max) * 5))] : 1}
                    onPointerMove={() => move(index)}
                  />
                ))}
              </>
            )}
          </svg>
        </div>
      </Readable>
      <AsTable caption={label} head={['Hour', ...weekdays]}>
        {() =>
          Array.from({ length: 24 }, (_, hour) => (
            <tr key={hourName(hour)}>
              <th scope="row">{hourName(hour)}</th>
              {weekdays.map((name, index) => {
                const found = cells.find((one) => one.hour === hour && one.weekday === index + 1)
                return (
                  <td key={name} class="n">
                    {found?.minutes == null ? HIDDEN : found.minutes}
                  </td>
                )
              })}
            </tr>
          ))
        }
      </AsTable>
    </figure>
  )
}

/** A sparkline as text for screen readers: its first half compared with its second. */
const describe = (values: (number | null)[]): string => {
  const sum = (part: typeof values) => part.reduce<number>((all, value) => all + (value ?? 0), 0)
  const half = Math.floor(values.length / 2)
  const [first, second] = [sum(values.slice(0, half)), sum(values.slice(-half))]
  const trend = second > first * 1.1 ? 'rising' : second < first * 0.9 ? 'falling' : 'steady'
  return `${trend}: first half ${compact(first)}, second half ${compact(second)}`
}

/** A line without a scale, to compare shapes. */
export const Spark = ({ values, tone }: { values: (number | null)[]; tone?: string }) => {
  const max = Math.max(1, ...values.map((value) => value ?? 0))
  const d = values
    .map(
      (value, index) =>
        `${index === 0 ? 'M' : 'L'}${(index * 100) / Math.max(1, values.length - 1)} ${23 - ((value ?? 0) / max) * 22}`,
    )
    .join('')
  return (
    <>
      <svg
        class={`spark ${tone ?? 'blue'}`}
        viewBox="0 0 100 24"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path d={d} />
      </svg>
      <span class="away">{describe(values)}</span>
    </>
  )
}
