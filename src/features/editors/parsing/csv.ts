/** Reads heartbeats from CSV of any size, a piece at a time. The first line names the columns. */
import { Parser } from 'csv-parse'
import type { SentHeartbeat } from '../project-names.js'

const COLUMNS = ['time', 'project', 'category']
/** Columns that aren't read may contain any text. */
const LINE_CHARACTERS = 1_048_576

export class CsvReader {
  /** Whether the first line, once read, names the columns that matter. */
  hasColumns = false
  private readonly parser: Parser

  constructor(found: (heartbeat: SentHeartbeat) => void) {
    this.parser = new Parser({
      columns: (header: string[]) => {
        const names = header.map((name) => name.trim())
        this.hasColumns = names.includes('time') && names.includes('project')
        return names.map((name) => COLUMNS.includes(name) && name)
      },
      max_record_size: LINE_CHARACTERS,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      on_record: (record) => {
        const { time, project, category } = record as unknown as Record<string, string>
        found({ time: time ?? null, project, alternate: undefined, category })
        return null
      },
    })
    // `push` and `end` reject with it.
    this.parser.on('error', () => {})
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
