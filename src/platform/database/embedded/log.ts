/** Who is told what happens to the server. */
export interface Log {
  info(text: string): void
  warn(text: string): void
  error(text: string): void
}
