/**
 * Reads heartbeats from CSV of any size, a piece at a time. The first line names the columns, and shows whether commas,
 * semicolons or tabs separate them.
 */
import { Parser } from 'csv-parse'
import { validationError } from '../../../errors.js'
import type { SentHeartbeat } from '../project-names.js'

/** Columns that aren't read may contain any text. */
const LINE_CHARACTERS = 1_048_576

/** A longer first line is separated by commas. */
const FIRST_LINE_BYTES = 65_536
const DELIMITERS = [',', ';', '\t']

/** The one that is most frequent in the first line. */
const delimiterOf = (bytes: Buffer): string => {
  const [line = ''] = bytes.toString('latin1').split('\n', 1)
  const counted = DELIMITERS.map((delimiter) => ({ delimiter, count: line.split(delimiter).length }))
  return counted.reduce((most, one) => (one.count > most.count ? one : most)).delimiter
}

export class CsvReader {
  /** The places of the columns that matter in the first line, once it's read. -1: it has no category. */
  private columns: { time: number; project: number; category: number } | undefined
  /** Undefined until the first line has arrived. */
  private parser: Parser | undefined
  private firstLine = Buffer.alloc(0)

  constructor(private readonly found: (heartbeat: SentHeartbeat) => void) {}

  private begin(): Parser {
    const delimiter = delimiterOf(this.firstLine)
    // Where semicolons separate columns, numbers often have a comma instead of a point.
    const toTime = (text: string) => (delimiter === ',' ? text : text.replace(',', '.'))
    const parser = new Parser({
      delimiter,
      max_record_size: LINE_CHARACTERS,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record: (record) => {
        if (this.columns) {
          const { time, project, category } = this.columns
          const at = record[time]
          this.found({
            time: at === undefined ? null : toTime(at),
            project: record[project],
            alternate: undefined,
            category: record[category],
          })
        } else {
          const names = record.map((name) => name.trim())
          this.columns = {
            time: names.lastIndexOf('time'),
            project: names.lastIndexOf('project'),
            category: names.lastIndexOf('category'),
          }
          if (this.columns.time === -1 || this.columns.project === -1)
            throw validationError('/body', 'must be JSON, or CSV with the columns `time` and `project`')
        }
        return null
      },
    })
    // `push` and `end` reject with it.
    parser.on('error', () => {})
    this.parser = parser
    return parser
  }

  /** @throws {CsvError} @throws {ApiError} `validation_failed` if the first line names no time or no project */
  async push(bytes: Buffer): Promise<void> {
    if (this.parser) return this.write(this.parser, bytes)
    this.firstLine = Buffer.concat([this.firstLine, bytes])
    if (this.firstLine.includes('\n') || this.firstLine.length > FIRST_LINE_BYTES)
      await this.write(this.begin(), this.firstLine)
  }

  async end(): Promise<void> {
    if (!this.parser) await this.write(this.begin(), this.firstLine)
    await this.done((callback) => this.parser?.end(callback))
  }

  private write(parser: Parser, bytes: Buffer): Promise<void> {
    return this.done((callback) => parser.write(bytes, callback))
  }

  private done(start: (callback: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())))
  }
}
