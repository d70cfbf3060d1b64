/** Loaded before a program, so that its clock is off by `CLOCK_AHEAD_MS`. Durations such as timers aren't affected. */
const ahead = Number(process.env.CLOCK_AHEAD_MS)
const { now } = Date

globalThis.Date = new Proxy(Date, {
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now() + ahead] : args),
  apply: () => new Date().toString(),
  get: (target, name) => (name === 'now' ? () => now() + ahead : Reflect.get(target, name)),
})
