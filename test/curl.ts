/** Parses commands in documents as a shell and curl would, so that tests can send them. */
export interface Command {
  method: string
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/** The words of a command; `$NAME` stands for a variable, except between single quotes. */
const wordsOf = (command: string, variables: Record<string, string>): string[] => {
  const variable = (name: string) => {
    const value = variables[name]
    if (value === undefined) throw new Error(`Nothing sets $${name}, which is used by ${command}`)
    return value
  }
  const expanded = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => variable(name))
  const words: string[] = []
  let word: string | undefined
  for (const [part, single, double, escaped, plain] of command
    .replaceAll('\\\n', ' ')
    .matchAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+)|\s+/g)) {
    if (/^\s+$/.test(part)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else
      word = (word ?? '') + (single ?? escaped ?? expanded(double?.replace(/\\(.)/g, '$1') ?? plain ?? ''))
  }
  return word === undefined ? words : [...words, word]
}

/** @throws for commands other than curl, and for options that no document uses */
export const readCurl = (command: string, variables: Record<string, string>): Command => {
  const [program, ...words] = wordsOf(command, variables)
  if (program !== 'curl') throw new Error(`This is not curl: ${command}`)
  const read: Command = { method: '', url: '', headers: {}, body: undefined }
  while (words.length > 0) {
    const word = words.shift() ?? ''
    if (word === '-X') read.method = words.shift() ?? ''
    else if (word === '-d') read.body = words.shift()
    else if (word === '-H') {
      const [name = '', ...value] = (words.shift() ?? '').split(': ')
      read.headers[name] = value.join(': ')
    } else if (!word.startsWith('-')) read.url = word
    else if (!['-i', '-s', '-si', '-O', '-fLO'].includes(word))
      throw new Error(`${word} is not known here: ${command}`)
  }
  return { ...read, method: read.method || (read.body === undefined ? 'GET' : 'POST') }
}
