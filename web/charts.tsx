/** SVG charts. Each has a caption, values by pointer and arrow keys, and a table for people who can't see it. */

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { own } from '../schemas/own.js'
import { offline } from './api.js'
import {
  count,
  duration,
  fullDay,
  HIDDEN,
  longWeekdays,
  month,
  short,
  today,
  weekdayAndDay,
  weekdays,
} from './format.js'
import type { Spark } from './spark.js'

/** An element's current width. */
const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, set] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    // It also reports the first width, after the layout, which reading the width here would force.
    const observer = new ResizeObserver(() => set(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

/** Scales the drawing for paper, which has a different width. */
const viewBox = (width: number, height: number) => `0 0 ${Math.max(1, width)} ${height}`

/** The index that a key moves to. Undefined for other keys. */
const targetOf = (key: string, right: number, down: number, last: number, at: number): number | undefined => {
  const targets: Record<string, number> = {
    ArrowRight: at + right,
    ArrowLeft: at - right,
    ArrowDown: at + down,
    ArrowUp: at - down,
    Home: 0,
    End: last,
  }
  const target = own(targets, key)
  return target === undefined ? undefined : Math.max(0, Math.min(last, target))
}

/** The value being read. */
interface Reading {
  title: string
  /** The value and what it's compared with, one line each. */
  lines: string[]
  /** The center of the bar or cell, half its width, and its top, in pixels from the drawing's top left. */
  x: number
  half: number
  y: number
}

/** The gap between a bar and its tooltip, in pixels. */
const TIP_GAP = 6

/** A drawing whose values are read one by one. For keyboards and screen readers, it's a slider. */
const Readable = (props: {
  label: string
  width: number
  count: number
  /** How many values each arrow key moves by. */
  right?: number
  down: number
  at: number | undefined
  /** The index that is read first. */
  first: number
  onMove: (at: number | undefined) => void
  /** The index at a position. Undefined if there is none. */
  indexAt: (x: number, y: number) => number | undefined
  read: (at: number) => Reading
  children: ComponentChildren
}) => {
  const { at, count, first, onMove, width } = props
  const [pointerY, follow] = useState<number>()
  const { title, lines } = props.read(at ?? first)
  const reading = at === undefined ? undefined : props.read(at)
  return (
    <div
      class="drawing"
      role="slider"
      tabIndex={0}
      aria-label={props.label}
      aria-valuemin={0}
      aria-valuemax={Math.max(0, count - 1)}
      aria-valuenow={at ?? first}
      aria-valuetext={`${title}: ${lines.join(', ')}`}
      onFocus={() => at === undefined && onMove(first)}
      onBlur={() => onMove(undefined)}
      onPointerMove={(event) => {
        const box = event.currentTarget.getBoundingClientRect()
        const y = event.clientY - box.top
        follow(y)
        onMove(props.indexAt(event.clientX - box.left, y))
      }}
      onPointerLeave={(event) => {
        follow(undefined)
        if (event.currentTarget !== document.activeElement) onMove(undefined)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') return onMove(undefined)
        const target = targetOf(event.key, props.right ?? 1, props.down, count - 1, at ?? first)
        if (target === undefined) return
        event.preventDefault()
        follow(undefined)
        onMove(target)
      }}
    >
      {props.children}
      {reading && (
        <div
          class="tooltip"
          aria-hidden="true"
          style={{
            // Beside the bar, on the side with more room.
            [reading.x < width / 2 ? 'left' : 'right']:
              `${Math.min(reading.x, width - reading.x) + reading.half + TIP_GAP}px`,
            top: `${Math.max(0, (pointerY ?? reading.y) - 12)}px`,
          }}
        >
          <strong>{reading.title}</strong>
          {reading.lines.map((line) => (
            <span key={line}>{line}</span>
          ))}
        </div>
      )}
    </div>
  )
}

export interface Point {
  /** The label on the axis, such as `3 Nov`. */
  name: string
  /** The label in texts, such as `Mon, 3 Nov 2026`. */
  title: string
  /** Whether the axis may show the label: a Monday. */
  isMonday: boolean
  value: number | null
  /** The reason if there is no value. */
  lack?: string | undefined
  /** Whether the day or week is still running. */
  isOpen?: boolean
  /** The value that it's compared with, and that value's day. */
  previous?: number | null | undefined
  previousTitle?: string | undefined
}

/** Whether the range that is compared with has any value. */
export const isCompared = (points: Point[]): boolean => points.some(({ previous }) => previous)

/** Round numbers from 0 to at least `max`, in multiples of `unit`. */
export const ticksOf = (max: number, unit: number): number[] => {
  const rough = Math.max(max, unit) / unit / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, [1, 2, 3, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough) * unit
  return Array.from({ length: Math.max(1, Math.ceil(max / step - 1e-9)) + 1 }, (_, index) => index * step)
}

const HEIGHT = 220
/** One day isn't one huge bar. */
const MAX_SLOT = 96
const [TOP, BOTTOM] = [8, 24]
/** The width of a character and of a day's label, in pixels. */
const [CHARACTER, LABEL] = [6.5, 52]

/** The indexes with a label on the axis: every one if they fit, otherwise Mondays. */
const labeled = (points: Point[], slot: number): Set<number> => {
  const all = points.map((_, index) => index)
  if (slot >= LABEL) return new Set(all)
  const mondays = all.filter((index) => points[index]?.isMonday)
  const gap = ((mondays[1] ?? 7) - (mondays[0] ?? 0)) * slot
  const every = Math.max(1, Math.ceil(LABEL / Math.max(1, gap)))
  // The last label may have to move left, and mustn't touch the one before it.
  const shift = (index: number) => Math.max(0, LABEL / 2 - (points.length - index - 0.5) * slot)
  return new Set(
    mondays.filter((day, index) => index === 0 || (index % every === 0 && gap * every - shift(day) >= LABEL)),
  )
}

/** Columns over time, each in front of the column that it's compared with. */
export const Trend = (props: {
  label: string
  /** The whole range's value, as text. */
  total: string
  tone: string
  points: Point[]
  /** Formats a value. */
  write: (value: number | null) => string
  /** 60 if values are minutes and the axis shows hours. */
  unit?: number
  /** The names of the range, of the compared one, and of the bar that's still running. */
  names: { now: string; before: string; open: string }
  /** Days in the range without a bar. */
  leftOut: string
}) => {
  const { points, write, unit = 1, names } = props
  const [ref, width] = useWidth()
  const [at, move] = useState<number>()
  const values = points.flatMap(({ value, previous }) => [value ?? 0, previous ?? 0])
  const ticks = ticksOf(Math.max(0, ...values), unit)
  const tickText = (tick: number) => (unit === 60 ? `${short(tick / 60)} h` : short(tick))
  const left = 8 + CHARACTER * Math.max(...ticks.map((tick) => tickText(tick).length))
  const max = ticks.at(-1) || 1
  const slot = Math.max(0, width - left) / Math.max(1, points.length)
  const x = (index: number) => left + slot * (index + 0.5)
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / max)
  const compared = isCompared(points)
  const lacking = points.some(({ value }) => value === null)
  const peak = points.reduce<Point | undefined>(
    (most, point) => ((point.value ?? 0) > (most?.value ?? 0) ? point : most),
    undefined,
  )
  const summary = peak ? `${props.total}, peak ${peak.title} with ${write(peak.value)}` : props.total
  const column = (index: number, value: number, share: number, name: string) => (
    <rect
      class={name}
      x={x(index) - (Math.min(slot, MAX_SLOT) * share) / 2}
      width={Math.min(slot, MAX_SLOT) * share}
      y={y(value)}
      height={Math.max(0, y(0) - y(value))}
      rx={Math.min(3, slot / 5)}
    />
  )
  // Moving the pointer redraws only the tooltip and the mark.
  const drawn = useMemo(() => {
    if (width === 0) return null
    const shown = labeled(points, slot)
    return (
      <>
        {ticks.map((tick) => (
          <g key={tick}>
            <line class="grid" x1={left} x2={width} y1={y(tick)} y2={y(tick)} />
            <text x={left - 6} y={y(tick) + 4} text-anchor="end">
              {tickText(tick)}
            </text>
          </g>
        ))}
        {points.map(({ title, name, value, isOpen, previous }, index) => (
          <g key={title}>
            {value === null && (
              <rect class="lack" x={x(index) - slot / 2} y={TOP} width={slot} height={y(0) - TOP} />
            )}
            {previous != null && column(index, previous, 0.92, 'before')}
            {value !== null && column(index, value, 0.56, isOpen ? 'column open' : 'column')}
            {shown.has(index) && (
              <text x={Math.min(x(index), width - LABEL / 2)} y={HEIGHT - 6} text-anchor="middle">
                {name}
              </text>
            )}
          </g>
        ))}
      </>
    )
  }, [points, width, unit])
  return (
    <figure class={`chart ${props.tone}`}>
      <figcaption class="away">{props.label}</figcaption>
      <Readable
        label={`${props.label}: ${summary}`}
        width={width}
        count={points.length}
        down={-7}
        at={at}
        first={points.length - 1}
        onMove={move}
        indexAt={(place) => Math.max(0, Math.min(points.length - 1, Math.floor((place - left) / slot)))}
        read={(index) => {
          const { title = '', value = null, previous, previousTitle, lack, isOpen } = points[index] ?? {}
          return {
            title,
            lines: [
              value === null && lack ? lack : `${write(value)}${isOpen ? ' so far' : ''}`,
              ...(compared && previous != null ? [`${previousTitle}: ${write(previous)}`] : []),
            ],
            x: x(index),
            half: slot / 2,
            y: y(value ?? 0),
          }
        }}
      >
        <div ref={ref}>
          <svg height={HEIGHT} viewBox={viewBox(width, HEIGHT)} aria-hidden="true">
            {at !== undefined && (
              <rect class="at" x={x(at) - slot / 2} y={TOP} width={slot} height={y(0) - TOP} />
            )}
            {drawn}
          </svg>
        </div>
      </Readable>
      <p class="legend small muted">
        {compared && <Key of="column">{names.now}</Key>}
        {compared && <Key of="before">{names.before}</Key>}
        {points.some(({ isOpen, value }) => isOpen && value) && <Key of="open">{names.open}</Key>}
        {lacking && <Key of="lack">Not shown</Key>}
        {peak && (
          <span>
            Peak: {peak.title}, {write(peak.value)}
          </span>
        )}
        {props.leftOut && <span>Not shown, because the week isn’t whole: {props.leftOut}</span>}
      </p>
      <AsTable caption={props.label} head={compared ? ['Date', 'Value', 'Before'] : ['Date', 'Value']}>
        {() =>
          points.map(({ title, value, previous, lack }) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td class="n">{value === null && lack ? lack : write(value)}</td>
              {compared && <td class="n">{previous == null ? '' : write(previous)}</td>}
            </tr>
          ))
        }
      </AsTable>
    </figure>
  )
}

const pictures = [
  ['SVG', 'Download SVG'],
  ['PNG', 'Download PNG'],
  ['copy', 'Copy picture'],
] as const

/** The chart's numbers as a table, which is rendered when opened, and its drawing as a file. */
const AsTable = (props: { caption: string; head: string[]; children: () => ComponentChildren }) => {
  const [open, set] = useState(false)
  const [told, say] = useState('')
  return (
    <>
      <p class="row picture">
        {pictures.map(([as, title]) => (
          <button
            key={as}
            type="button"
            class="link small"
            onClick={({ currentTarget }) => {
              const figure = currentTarget.closest('figure')
              import('./download.js').then(
                ({ savePicture }) =>
                  figure &&
                  savePicture(figure, props.caption, as).then(
                    () => as === 'copy' && say('Picture copied'),
                    () => say('The browser doesn’t allow it. Download it instead.'),
                  ),
                () => {
                  offline.value = true
                },
              )
            }}
          >
            {title}
            <span class="away"> of {props.caption}</span>
          </button>
        ))}
        <span role="status" class="small">
          {told}
        </span>
      </p>
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
    </>
  )
}

/** A mean above 0 isn't shown as 0, even if it rounds to 0. */
const meanDuration = (minutes: number): string =>
  minutes > 0 && minutes < 0.5 ? 'less than 1 min' : duration(Math.round(minutes))

const hourName = (hour: number) => `${String(hour).padStart(2, '0')}:00`

/** Space for the weekdays and for an hour's label, in pixels. */
const [HOURS_LEFT, HOUR] = [36, 40]
const DAY_HEIGHT = (HEIGHT - BOTTOM) / 7

/** Five shades, so that neighbors are easy to tell apart. */
const SHADES = [0.2, 0.4, 0.6, 0.8, 1]
const shadeOf = (value: number, max: number): number =>
  SHADES[Math.min(4, Math.floor((value / max) * 5))] ?? 1

/** The hours from the first to the last one used. All hours if none are used. */
const usedHours = (cells: { hour: number; minutes: number | null }[]) => {
  const used = cells.flatMap(({ hour, minutes }) => (minutes ? hour : []))
  return used.length > 0 ? { first: Math.min(...used), last: Math.max(...used) } : { first: 0, last: 23 }
}

const Key = ({ of, children }: { of: string; children: ComponentChildren }) => (
  <span>
    <i class={`swatch ${of}`} /> {children}
  </span>
)

const Legend = ({ children }: { children: ComponentChildren }) => (
  <p class="legend small muted">
    <span>
      Less{' '}
      <svg class="shades" width="92" height="12" aria-hidden="true">
        <rect class="cell none" width="12" height="12" rx="3" />
        {SHADES.map((shade, index) => (
          <rect
            key={shade}
            class="cell"
            x={(index + 1) * 16}
            width="12"
            height="12"
            rx="3"
            fill-opacity={shade}
          />
        ))}
      </svg>{' '}
      More
    </span>
    <span>{children}</span>
  </p>
)

/** A cell is at most this wide, so that few cells are a small drawing. */
const MAX_ACROSS = 48
/** From here on, a mean of the weeks says more than their sum. */
const MEAN_FROM_DAYS = 14

/** Minutes by weekday and hour: means from two weeks on, otherwise sums. Nothing without minutes. */
export const Heatmap = (props: {
  cells: { weekday: number; hour: number; minutes: number | null }[]
  /** How many Mondays, Tuesdays and so on the sums cover. */
  counts: number[]
  label: string
}) => {
  const { cells: sums, counts, label } = props
  const isMean = counts.reduce((sum, days) => sum + days, 0) >= MEAN_FROM_DAYS
  const all = useMemo(
    () =>
      sums.map((cell) => ({
        ...cell,
        minutes: cell.minutes && cell.minutes / (isMean ? (counts[cell.weekday - 1] ?? 1) : 1),
      })),
    [sums, counts.join()],
  )
  const { first, last } = usedHours(all)
  const hours = last - first + 1
  const cells = useMemo(() => all.filter(({ hour }) => hour >= first && hour <= last), [all])
  const [at, move] = useState<number>()
  const max = Math.max(0, ...cells.map(({ minutes }) => minutes ?? 0))
  const [ref, width] = useWidth()
  const across = Math.min(MAX_ACROSS, Math.max(0, width - HOURS_LEFT) / hours)
  const every = [1, 2, 3, 6].find((step) => step * across >= HOUR) ?? 6
  const place = (index: number) => {
    const { weekday = 1, hour = 0 } = cells[index] ?? {}
    return { x: HOURS_LEFT + (hour - first) * across, y: (weekday - 1) * DAY_HEIGHT }
  }
  const size = { width: Math.max(0, across - 2), height: DAY_HEIGHT - 2, rx: 3 }
  const nameOf = (index: number) => {
    const { weekday = 1, hour = 0 } = cells[index] ?? {}
    return `${longWeekdays()[weekday - 1]} ${hourName(hour)}`
  }
  const most = cells.findIndex(({ minutes }) => minutes === max)
  const busiest = `Busiest hour: ${nameOf(most)}, ${isMean ? 'on average ' : ''}${meanDuration(max)}`
  const drawn = useMemo(
    () =>
      width > 0 && (
        <>
          {weekdays().map((name, index) => (
            <text key={name} x="0" y={(index + 0.5) * DAY_HEIGHT + 3}>
              {name}
            </text>
          ))}
          {Array.from({ length: hours }, (_, index) => first + index).map(
            (hour) =>
              hour % every === 0 &&
              (last + 1 - hour) * across >= HOUR && (
                <text key={hour} x={HOURS_LEFT + (hour - first) * across} y={HEIGHT - 6}>
                  {hourName(hour)}
                </text>
              ),
          )}
          {cells.map(({ weekday, hour, minutes }, index) => (
            <rect
              key={`${weekday} ${hour}`}
              class={`cell ${minutes ? '' : 'none'}`}
              {...place(index)}
              {...size}
              fill-opacity={minutes ? shadeOf(minutes, max) : 1}
            />
          ))}
        </>
      ),
    [cells, width],
  )
  return (
    <figure class="chart heat">
      <figcaption class="away">{label}</figcaption>
      <Readable
        label={`${label}. ${busiest}`}
        width={width}
        count={cells.length}
        down={hours}
        at={at}
        first={Math.max(0, most)}
        onMove={move}
        indexAt={(x, y) => {
          const [hour, row] = [first + Math.floor((x - HOURS_LEFT) / across), Math.floor(y / DAY_HEIGHT)]
          const index = cells.findIndex((cell) => cell.hour === hour && cell.weekday === row + 1)
          return index < 0 ? undefined : index
        }}
        read={(index) => ({
          title: nameOf(index),
          lines: [
            cells[index]?.minutes === null
              ? 'Hidden: too few people'
              : meanDuration(cells[index]?.minutes ?? 0),
          ],
          x: place(index).x + across / 2,
          half: across / 2,
          y: place(index).y,
        })}
      >
        <div ref={ref}>
          <svg height={HEIGHT} viewBox={viewBox(width, HEIGHT)} aria-hidden="true">
            {drawn}
            {at !== undefined && <rect class="chosen" {...place(at)} {...size} />}
          </svg>
        </div>
      </Readable>
      <Legend>{busiest}</Legend>
      <AsTable
        caption={`${label}, ${isMean ? 'average minutes per week' : 'minutes'}`}
        head={['Hour', ...weekdays()]}
      >
        {() =>
          Array.from({ length: 24 }, (_, hour) => (
            <tr key={hourName(hour)}>
              <th scope="row">{hourName(hour)}</th>
              {weekdays().map((name, index) => {
                const found = all.find((one) => one.hour === hour && one.weekday === index + 1)
                return (
                  <td key={name} class="n">
                    {found?.minutes == null ? HIDDEN : count(Math.round(found.minutes))}
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

/** A day's smallest square with its gap, in pixels. */
const SQUARE = 12
const [WEEKDAYS_LEFT, MONTHS_TOP] = [32, 18]

/** A square for each day and a column for each week, as many as fit. `daily` begins on a Monday and ends today. */
export const Calendar = ({ daily, label }: { daily: { day: string; minutes: number }[]; label: string }) => {
  const [at, move] = useState<number>()
  const [ref, width] = useWidth()
  const all = Math.ceil(daily.length / 7)
  const weeks = Math.max(1, Math.min(all, Math.floor((width - WEEKDAYS_LEFT) / SQUARE)))
  const days = useMemo(() => daily.slice((all - weeks) * 7), [daily, weeks])
  const square = Math.min(22, Math.max(SQUARE, (width - WEEKDAYS_LEFT) / weeks))
  const max = Math.max(1, ...days.map(({ minutes }) => minutes))
  const place = (index: number) => ({
    x: WEEKDAYS_LEFT + Math.floor(index / 7) * square,
    y: MONTHS_TOP + (index % 7) * square,
  })
  const size = { width: Math.max(0, square - 3), height: Math.max(0, square - 3), rx: 3 }
  const height = MONTHS_TOP + 7 * square
  const most = days.findIndex(({ minutes }) => minutes === max)
  const peak = most < 0 ? '' : `, peak ${weekdayAndDay(days[most]?.day ?? '')} with ${duration(max)}`
  const summary = `${duration(days.reduce((sum, { minutes }) => sum + minutes, 0))} in ${weeks} weeks${peak}`
  const drawn = useMemo(
    () =>
      width > 0 && (
        <>
          {[0, 2, 4].map((row) => (
            <text key={row} x="0" y={MONTHS_TOP + (row + 0.5) * square + 3}>
              {weekdays()[row]}
            </text>
          ))}
          {days.map(({ day, minutes }, index) => (
            <rect
              key={day}
              class={`cell ${minutes ? '' : 'none'}`}
              {...place(index)}
              {...size}
              fill-opacity={minutes ? shadeOf(minutes, max) : 1}
            />
          ))}
          {days.map(({ day }, index) => {
            // A month is named above its first whole week, unless the name wouldn't fit.
            if (index % 7 > 0 || Number(day.slice(8)) > 7 || index / 7 > weeks - 2) return null
            return (
              <text key={day} x={place(index).x} y="11">
                {month(day)}
              </text>
            )
          })}
        </>
      ),
    [days, width],
  )
  return (
    <figure class="chart heat">
      <figcaption class="away">{label}</figcaption>
      <Readable
        label={`${label}: ${summary}`}
        width={width}
        count={days.length}
        right={7}
        down={1}
        at={at}
        first={days.length - 1}
        onMove={move}
        indexAt={(x, y) => {
          const [week, row] = [
            Math.floor((x - WEEKDAYS_LEFT) / square),
            Math.floor((y - MONTHS_TOP) / square),
          ]
          const index = week * 7 + row
          return week < 0 || row < 0 || row > 6 || index >= days.length ? undefined : index
        }}
        read={(index) => ({
          title: fullDay(days[index]?.day ?? daily[0]?.day ?? today()),
          lines: [duration(days[index]?.minutes ?? 0)],
          x: place(index).x + square / 2,
          half: square / 2,
          y: place(index).y,
        })}
      >
        <div ref={ref}>
          <svg height={height} viewBox={viewBox(width, height)} aria-hidden="true">
            {drawn}
            {at !== undefined && <rect class="chosen" {...place(at)} {...size} />}
          </svg>
        </div>
      </Readable>
      <Legend>{summary}</Legend>
      <AsTable caption={label} head={['Date', 'Active time']}>
        {() =>
          days.map(({ day, minutes }) => (
            <tr key={day}>
              <th scope="row">{fullDay(day)}</th>
              <td class="n">{duration(minutes)}</td>
            </tr>
          ))
        }
      </AsTable>
    </figure>
  )
}

/** A line without a scale, to compare shapes. The compared range is its faint part. */
export const Sparkline = ({ points, before }: Spark) => {
  const max = Math.max(1, ...points, ...before)
  const step = 100 / (before.length + points.length - 1)
  const path = (values: number[], offset: number) =>
    values
      .map(
        (value, index) => `${index === 0 ? 'M' : 'L'}${(offset + index) * step} ${23 - (value / max) * 22}`,
      )
      .join('')
  return (
    <svg class="spark blue" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <path class="before" d={path(before, 0)} />
      <path d={path(points, before.length)} />
    </svg>
  )
}
