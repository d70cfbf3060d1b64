/**
 * Compiles each schema once, however many routes share it and however many services a process has.
 * @param compile is given the text of the schema as well
 */
export const memoizeBySchema = <Schema, Compiled>(compile: (schema: Schema, text: string) => Compiled) => {
  const compiled = new Map<string, Compiled>()
  return (schema: Schema): Compiled => {
    const text = JSON.stringify(schema)
    const made = compiled.get(text) ?? compile(schema, text)
    compiled.set(text, made)
    return made
  }
}
