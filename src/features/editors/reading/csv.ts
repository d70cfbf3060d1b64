/** Reads heartbeats from CSV of any size, a piece at a time: the columns that count, which the first line names. */
import { limits } from '../../../../schemas/limits.js'
import type { SentHeartbeat } from '../project-names.js'

const COMMA = 0x2c
const QUOTE = 0x22
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Longer fields are not kept. */
const MOST_KEPT = 4 * 4 * limits.editor_project_length
/** A line with more fields has no columns that count behind them. */
const MOST_FIELDS = 200

export class CsvReader {
  private readonly kept = Buffer.alloc(MOST_KEPT)
  private keptLength = 0
  private field = 0
  private inQuotes = false
  private columns: { time: number; project: number; category: number } | undefined
  private names: string[] = []
  private time: string | undefined
  private project: string | undefined
  private category: string | undefined

  constructor(private readonly found: (heartbeat: SentHeartbeat) => void) {}

  /** Whether the first line, once it was read, names the columns that count. */
  get hasColumns(): boolean {
    return this.columns !== undefined && this.columns.time >= 0 && this.columns.project >= 0
  }

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      // A quote within quotes is doubled, so that it ends them for no more than a moment.
      if (byte === QUOTE) {
        if (!this.inQuotes && this.keptLength > 0) this.keep(byte)
        this.inQuotes = !this.inQuotes
      } else if (!this.inQuotes && byte === COMMA) this.endField()
      else if (!this.inQuotes && byte === LINE_FEED) this.endLine()
      else if (this.inQuotes || byte !== CARRIAGE_RETURN) this.keep(byte)
    }
  }

  end(): void {
    if (this.field > 0 || this.keptLength > 0) this.endLine()
  }

  private keep(byte: number): void {
    if (this.keptLength < MOST_KEPT) this.kept[this.keptLength] = byte
    this.keptLength++
  }

  private endField(): void {
    const { columns, field } = this
    if (!columns || field === columns.time || field === columns.project || field === columns.category) {
      const text = this.keptLength > MOST_KEPT ? '' : this.kept.toString('utf8', 0, this.keptLength)
      if (!columns) {
        if (field < MOST_FIELDS) this.names.push(text.trim())
      } else if (field === columns.time) this.time = text
      else if (field === columns.project) this.project = text
      else this.category = text
    }
    this.field++
    this.keptLength = 0
  }

  private endLine(): void {
    this.endField()
    this.field = 0
    const { time, project, category } = this
    if (!this.columns) {
      const [at, of, kind] = ['time', 'project', 'category'].map((name) => this.names.indexOf(name))
      this.columns = { time: at ?? -1, project: of ?? -1, category: kind ?? -1 }
      this.names = []
    } else if (time) this.found({ time: Number(time), project, alternate: undefined, category })
    this.time = this.project = this.category = undefined
  }
}
