/**
 * The environment of PostgreSQL's programs. The service's own has secrets, and `/proc` shows a process's environment to
 * its account. Only what the loader and the clock may need is passed on. Without a locale, macOS doesn't let the server
 * start.
 */
const PASSED_ON = ['LD_LIBRARY_PATH', 'TZ']

export const serverEnvironment = (): Record<string, string> => ({
  LC_ALL: 'C',
  ...Object.fromEntries(PASSED_ON.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
})
