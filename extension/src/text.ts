/** This file doesn't depend on the editor. */

/**
 * Shows text from a service, a repository or a file as plain text. The editor would show `[…](command:…)` as a link
 * that runs the command, and `$(…)` as an icon.
 */
export const plain = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
    .replace(/\](?=\()/g, '] ')
    .replace(/\$(?=\()/g, '$ ')
