/** Reads heartbeats from CSV of any size, a piece at a time. The first line names the columns. */
import { Parser } from 'csv-parse'
import type { SentHeartbeat } from '../project-names.js'

/** Columns that aren't read may contain any text. */
const LINE_CHARACTERS = 1_048_576

export class CsvReader {
  /** The places of the columns that matter in the first line, once it's read. -1: it doesn't name the column. */
  private columns: { time: number; project: number; category: number } | undefined
  private readonly parser: Parser

  constructor(found: (heartbeat: SentHeartbeat) => void) {
    this.parser = new Parser({
      max_record_size: LINE_CHARACTERS,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record: (record) => {
        if (this.columns) {
          const { time, project, category } = this.columns
          const at = record[time] ?? null
          found({ time: at, project: record[project], alternate: undefined, category: record[category] })
        } else {
          const names = record.map((name) => name.trim())
          this.columns = {
            time: names.lastIndexOf('time'),
            project: names.lastIndexOf('project'),
            category: names.lastIndexOf('category'),
          }
        }
        return null
      },
    })
    // `push` and `end` reject with it.
    this.parser.on('error', () => {})
  }

  /** Whether the first line, once read, names a time and a project. */
  get hasColumns(): boolean {
    return this.columns !== undefined && this.columns.time !== -1 && this.columns.project !== -1
  }

  push(bytes: Uint8Array): Promise<void> {
    return this.done((callback) => this.parser.write(bytes, callback))
  }

  end(): Promise<void> {
    return this.done((callback) => this.parser.end(callback))
  }

  private done(start: (callback: (error?: Error | null) => void) => void): Promise<void> {
    return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())))
  }
}
