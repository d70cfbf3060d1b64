/**
 * The settings that most teams share. The page offers them if the operator has no settings schema but lists the prefixes of an
 * editor and its extensions. Add a setting only with its source: `test/common-settings.test.ts` looks it up in the list of
 * settings of published extensions.
 */
import type { Schema } from './schema.js'
import type { Property } from './setting-text.js'

interface CommonSetting extends Property {
  key: string
  /** The extension whose manifest describes it. */
  from: string
}

const EDITOR = 'the editor'

export const commonSettings: CommonSetting[] = [
  {
    key: 'editor.tabSize',
    from: EDITOR,
    type: 'number',
    minimum: 1,
    default: 4,
    description: 'Columns of a tab. A file’s own indentation wins unless `editor.detectIndentation` is off.',
  },
  {
    key: 'editor.insertSpaces',
    from: EDITOR,
    type: 'boolean',
    default: true,
    description: 'Indent with spaces, not tabs.',
  },
  {
    key: 'editor.detectIndentation',
    from: EDITOR,
    type: 'boolean',
    default: true,
    description: 'Take the indentation from what a file contains.',
  },
  {
    key: 'editor.formatOnSave',
    from: EDITOR,
    type: 'boolean',
    default: false,
    description: 'Format a file when it’s saved.',
  },
  {
    key: 'editor.defaultFormatter',
    from: EDITOR,
    type: ['string', 'null'],
    default: null,
    description:
      'The id of the extension that formats, such as `esbenp.prettier-vscode`. A person’s own language block wins over it.',
  },
  {
    key: 'editor.codeActionsOnSave',
    from: EDITOR,
    type: 'object',
    default: {},
    description: 'Fixes to make on save, such as `{"source.fixAll.eslint": "explicit"}`.',
  },
  {
    key: 'editor.rulers',
    from: EDITOR,
    type: 'array',
    items: { type: 'number' },
    default: [],
    description: 'Columns with a vertical line, such as `[100]`.',
  },
  {
    key: 'editor.wordWrap',
    from: EDITOR,
    type: 'string',
    enum: ['off', 'on', 'wordWrapColumn', 'bounded'],
    default: 'off',
    description: 'How long lines wrap.',
  },
  {
    key: 'files.eol',
    from: EDITOR,
    type: 'string',
    enum: ['\n', '\r\n', 'auto'],
    enumDescriptions: ['LF', 'CRLF', 'As the operating system has it'],
    default: 'auto',
    description: 'The line ending of new files.',
  },
  {
    key: 'files.insertFinalNewline',
    from: EDITOR,
    type: 'boolean',
    default: false,
    description: 'End a file with a line break when it’s saved.',
  },
  {
    key: 'files.trimTrailingWhitespace',
    from: EDITOR,
    type: 'boolean',
    default: false,
    description: 'Remove spaces at the ends of lines when a file is saved.',
  },
  {
    key: 'files.exclude',
    from: EDITOR,
    type: 'object',
    description: 'Files that the explorer hides, such as `{"**/dist": true}`.',
  },
  {
    key: 'search.exclude',
    from: EDITOR,
    type: 'object',
    description: 'Files that a search skips, such as `{"**/*.snap": true}`.',
  },
  {
    key: 'eslint.run',
    from: 'dbaeumer.vscode-eslint',
    type: 'string',
    enum: ['onSave', 'onType'],
    default: 'onType',
    description: 'When ESLint checks a file.',
  },
  {
    key: 'eslint.validate',
    from: 'dbaeumer.vscode-eslint',
    type: 'array',
    items: { type: 'string' },
    description: 'The languages that ESLint checks, such as `["javascript", "typescript"]`.',
  },
  {
    key: 'prettier.requireConfig',
    from: 'esbenp.prettier-vscode',
    type: 'boolean',
    default: false,
    description: 'Format only files of projects that configure Prettier.',
  },
]

/** A schema of those settings that a server can store, or undefined if it stores none of them. */
export const commonSchema = (canExist: (key: string) => boolean): Schema | undefined => {
  const offered = commonSettings.filter(({ key }) => canExist(key))
  if (offered.length === 0) return undefined
  return {
    type: 'object',
    additionalProperties: false,
    'x-validation': 'warn',
    properties: Object.fromEntries(offered.map(({ key, from: _, ...property }) => [key, property])),
    'x-groups': [{ title: 'Settings that most teams share', properties: offered.map(({ key }) => key) }],
  }
}
