/** Text that people have entered, for a terminal: control characters, line breaks and invisible characters are escaped. */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
