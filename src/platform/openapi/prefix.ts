/** Examples, descriptions and guides are written with the prefix `ext`; this puts the configured one in its place. */
export const withExtensionPrefix = (text: string, prefix: string): string =>
  text.replace(/(?<=["`'])ext(?=["`.])/g, prefix)
