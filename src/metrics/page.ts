import { filled, tableOf } from '../domain/config-docs.js'
import { metrics } from '../domain/metrics.js'

const labelsOf = (labels: Record<string, readonly string[] | string>): string =>
  Object.entries(labels)
    .map(([name, values]) => {
      const known = typeof values === 'string' ? values : values.map((value) => `\`${value}\``).join(', ')
      return `\`${name}\`: ${known}`
    })
    .join('; ')

/** docs/metrics.md with the metrics that there are. */
export const withMetrics = (page: string): string => {
  const rows = Object.entries(metrics).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    help,
    labelsOf(labels),
  ])
  return filled(page, 'metrics', tableOf(['metric', 'type', 'meaning', 'labels'], rows))
}
