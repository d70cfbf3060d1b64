/** Collects the metrics of `platform/metrics/metrics.ts` for Prometheus. Without a metrics port, it collects nothing. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { withTimeout } from '../process/async.js'
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  type MetricName,
  metrics,
  type Task,
} from './metrics.js'

type Value = number | undefined

/** `LabelsOf` of any metric. */
const texts = (labels: object) => labels as Record<string, string>

export interface Meter {
  /** Whether metrics are on. Expensive values need not be computed otherwise. */
  readonly isOn: boolean
  /** All metrics, including those of the process. Empty if metrics are off. */
  readonly registry: Registry
  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by?: number): void
  observe<N extends HistogramName>(name: N, labels: LabelsOf<N>, seconds: number): void
  set<N extends GaugeName>(name: N, labels: LabelsOf<N>, value: number): void
  /** Reads a gauge at every scrape. Undefined means that there is no value now. */
  read<N extends GaugeName>(name: N, labels: LabelsOf<N>, value: () => Value | Promise<Value>): void
}

export const noopMeter: Meter = {
  isOn: false,
  registry: new Registry(),
  count: () => {},
  observe: () => {},
  set: () => {},
  read: () => {},
}

/** Every combination of known values. Empty if a label can have others. */
const labelCombinations = (name: MetricName): Record<string, string>[] => {
  let found: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries<readonly string[] | string>(metrics[name].labels)) {
    if (typeof values === 'string') return []
    found = found.flatMap((labels) => values.map((value) => ({ ...labels, [label]: value })))
  }
  return found
}

/** The seconds since a time of `performance.now()`. */
export const secondsSince = (since: number): number => (performance.now() - since) / 1_000

export const createMeter = (isOn: boolean): Meter => {
  if (!isOn) return noopMeter
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const gauges = new Map<string, Gauge>()
  const readings = new Map<string, (() => unknown)[]>()

  for (const name of Object.keys(metrics) as MetricName[]) {
    const metric = metrics[name]
    const options = { name, help: metric.help, labelNames: Object.keys(metric.labels), registers: [registry] }
    // Counters start at 0, so that Prometheus sees the first increase.
    if (metric.type === 'counter') {
      const counter = new Counter(options)
      for (const labels of labelCombinations(name)) counter.inc(labels, 0)
      counters.set(name, counter)
    } else if (metric.type === 'histogram') {
      const histogram = new Histogram({ ...options, buckets: [...metric.buckets] })
      for (const labels of labelCombinations(name)) histogram.zero(labels)
      histograms.set(name, histogram)
    } else {
      const collect = async () => {
        await Promise.all((readings.get(name) ?? []).map((read) => read()))
      }
      const gauge = new Gauge({ ...options, collect })
      // A gauge without labels starts at 0. Otherwise the gauge of a disabled feature would stay 0.
      gauge.remove({})
      gauges.set(name, gauge)
    }
  }

  return {
    isOn,
    registry,
    count: (name, labels, by = 1) => counters.get(name)?.inc(texts(labels), by),
    observe: (name, labels, seconds) => histograms.get(name)?.observe(texts(labels), seconds),
    set: (name, labels, value) => gauges.get(name)?.set(texts(labels), value),
    read: (name, labels, value) => {
      const gauge = gauges.get(name)
      const read = async () => {
        const found = await value()
        if (found === undefined) gauge?.remove(texts(labels))
        else gauge?.set(texts(labels), found)
      }
      readings.set(name, [...(readings.get(name) ?? []), read])
    },
  }
}

/** Wraps a background task so that its runs are counted and timed. */
export const measuredTask =
  <Arguments extends unknown[]>(
    meter: Meter,
    task: Task,
    work: (...args: Arguments) => Promise<unknown>,
  ): ((...args: Arguments) => Promise<void>) =>
  async (...args) => {
    const since = performance.now()
    try {
      await work(...args)
      meter.count('team_settings_background_runs_total', { task, outcome: 'done' })
      meter.set('team_settings_background_last_success_timestamp_seconds', { task }, Date.now() / 1_000)
    } catch (error) {
      meter.count('team_settings_background_runs_total', { task, outcome: 'failed' })
      throw error
    } finally {
      meter.observe('team_settings_background_duration_seconds', { task }, secondsSince(since))
    }
  }

/** How long a value is cached, however often metrics are scraped. */
const CACHE_MS = 5_000
/** How long a scrape waits before it omits the value. */
const WAIT_MS = 1_000

/** Undefined if the work fails, or takes too long for a scrape. */
export const forScrape = <T>(work: Promise<T>): Promise<T | undefined> =>
  withTimeout(work, WAIT_MS, () => undefined).catch(() => undefined)

/** Caches the result of `ask`, or the fact that it didn't arrive in time. */
export const cached = <T>(ask: () => Promise<T>): (() => Promise<T | undefined>) => {
  let last: { at: number; result: Promise<T | undefined> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at > CACHE_MS) last = { at: now, result: forScrape(ask()) }
    return last.result
  }
}
