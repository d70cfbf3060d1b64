/** The JSON editor: CodeMirror, loaded when a screen needs it. */
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  pickedCompletion,
  startCompletion,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language'
import { lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Fault } from './json-scan.js'
import { describe, type Properties, plainText, typeOf } from './setting-text.js'

export interface CodeEditor {
  /** Shows a text unless it's already there, marks its errors, and completes these keys. */
  show(content: {
    text: string
    faults: Fault[]
    /** Values that don't fit the schema, which don't prevent saving. */
    misfits: Fault[]
    properties: Properties
    prefixes: readonly string[]
  }): void
  focus(): void
  destroy(): void
}

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--blue)' },
  { tag: tags.string, color: 'var(--green)' },
  { tag: tags.number, color: 'var(--orange)' },
  { tag: [tags.bool, tags.null], color: 'var(--violet)' },
])

const theme = EditorView.theme({
  '&': { font: '13px/1.5 ui-monospace, monospace', background: 'var(--surface)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--blue)', outlineOffset: '2px' },
  '.cm-scroller': {
    fontFamily: 'inherit',
    lineHeight: 'inherit',
    minHeight: 'var(--code-height, 220px)',
    maxHeight: '60vh',
    overflow: 'auto',
  },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--soft)',
  },
  '.cm-activeLine': { background: 'transparent' },
  '&.cm-focused .cm-activeLine': { background: 'color-mix(in srgb, var(--sunken) 50%, transparent)' },
  '.cm-gutters': { background: 'var(--surface)', color: 'var(--muted)', border: '0' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--soft)', outline: '1px solid var(--edge)' },
  '&.cm-focused .cm-nonmatchingBracket': { background: 'none', color: 'var(--red)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--red)',
    textUnderlineOffset: '3px',
  },
  '.cm-tooltip, .cm-panels': {
    background: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--edge)',
    maxWidth: 'min(420px, 90vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--blue)',
    color: 'var(--on-blue)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--red)' },
})

/**
 * Replaces selected text with what is typed. Chrome would keep the replaced text's look, such as the line below an
 * error, in inline styles, which the content security policy forbids.
 */
const replaceInsteadOfBrowser = EditorView.domEventHandlers({
  beforeinput: ({ inputType, isComposing, data }, view) => {
    // The editor's own selection may be slightly older. Only Chrome has this selection in a shadow root, and it has no
    // target ranges there.
    const selection = (view.root as Partial<Document>).getSelection?.()
    const { anchorNode, focusNode, isCollapsed } = selection ?? {}
    if (inputType !== 'insertText' || isComposing || data === null) return false
    if (!selection || !anchorNode || !focusNode || isCollapsed) return false
    const anchor = view.posAtDOM(anchorNode, selection.anchorOffset)
    const head = view.posAtDOM(focusNode, selection.focusOffset)
    const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)]
    const replace = () =>
      view.state.update({
        changes: { from, to, insert: data },
        selection: { anchor: from + data.length },
        scrollIntoView: true,
        userEvent: 'input.type',
      })
    const handlers = view.state.facet(EditorView.inputHandler)
    if (!handlers.some((handle) => handle(view, from, to, data, replace))) view.dispatch(replace())
    return true
  },
})

/** Completes settings keys, and the values that a key allows. */
const complete = (
  context: CompletionContext,
  properties: Properties,
  prefixes: readonly string[],
): CompletionResult | null => {
  const { state, pos } = context
  const node = syntaxTree(state).resolveInner(pos, -1)
  const textOf = (from: number, to: number) => state.sliceDoc(from, to)
  const inString = node.name === 'PropertyName' || node.name === 'String'
  const from = inString ? node.from : (context.matchBefore(/[\w.$-]+/)?.from ?? pos)
  const property = node.name === 'Property' ? node : node.parent?.name === 'Property' ? node.parent : null
  const top = (node.name === 'PropertyName' ? property?.parent : node)?.parent ?? node.parent
  const keyNode = property?.firstChild
  const isValue = property !== null && node.name !== 'PropertyName' && keyNode != null && pos > keyNode.to
  // The closing quotation mark that the editor added is replaced as well.
  const to = inString ? node.to : pos
  if (isValue && property?.parent?.parent?.name === 'JsonText') {
    const schema = properties[JSON.parse(textOf(keyNode.from, keyNode.to))]
    const values = schema?.enum ?? (schema && typeOf(schema).includes('boolean') ? [true, false] : [])
    const options = values.map((value, index): Completion => {
      const about = schema?.enumDescriptions?.[index]
      return { label: JSON.stringify(value), type: 'constant', ...(about && { info: plainText(about) }) }
    })
    return options.length > 0 ? { from, to, options } : null
  }
  const isKey = node.name === 'PropertyName' || (node.name === 'Object' && top?.name === 'JsonText')
  if (!isKey || (!context.explicit && from === pos)) return null
  const used = new Set(
    [...state.doc.toString().matchAll(/^\s*"((?:[^"\\]|\\.)+)"\s*:/gm)].map(([, key]) => key),
  )
  const options = Object.entries(properties)
    .filter(([key]) => !used.has(key))
    .map(
      ([key, schema]): Completion => ({
        label: `"${key}"`,
        type: 'property',
        info: describe(schema),
        // Before a colon, only the key is replaced.
        apply: /^\s*:/.test(textOf(to, to + 20))
          ? `"${key}"`
          : `"${key}": ${JSON.stringify(schema.default ?? null)}`,
      }),
    )
  if (textOf(from, pos).includes('.')) return { from, to, options, validFor: /^"?[\w.$-]*"?$/ }
  const shown = new Set([...Object.keys(properties).map((key) => key.split('.', 1)[0] ?? key), ...prefixes])
  return { from, to, options: [...[...shown].map(prefixOption), ...options], validFor: /^"?[\w$-]*"?$/ }
}

/** Prefixes come first. Choosing one shows its keys. */
const prefixOption = (prefix: string): Completion => ({
  label: `"${prefix}."`,
  type: 'namespace',
  boost: 99,
  apply: (view, completion, from, to) => {
    const text = `"${prefix}."`
    view.dispatch({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length - 1 },
      annotations: pickedCompletion.of(completion),
    })
    startCompletion(view)
  },
})

export const createEditor = (
  host: HTMLElement,
  options: { label: string; text: string; selection: [number, number]; onType: (text: string) => void },
): CodeEditor => {
  const { label, text, onType } = options
  // In a shadow root, the editor's styles are constructed style sheets, which the content security policy allows.
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open', delegatesFocus: true })
  let properties: Properties = {}
  let prefixes: readonly string[] = []
  let isShowing = false
  /** Typed text that the page hasn't shown yet. It shows one frame late, when the person may have typed more. */
  let typed: string[] = []
  const invalid = new Compartment()
  const attributes = (isInvalid: boolean) =>
    EditorView.contentAttributes.of({ 'aria-label': label, 'aria-invalid': String(isInvalid) })
  const [anchor, head] = options.selection.map((at) => Math.min(at, text.length))
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      selection: { anchor: anchor ?? 0, head: head ?? 0 },
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        closeBrackets(),
        autocompletion({ override: [(context) => complete(context, properties, prefixes)], icons: false }),
        json(),
        syntaxHighlighting(colors),
        EditorView.lineWrapping,
        replaceInsteadOfBrowser,
        theme,
        invalid.of(attributes(false)),
        // Tab moves the focus, so that the keyboard isn't trapped.
        keymap.of([
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
          ...lintKeymap,
        ]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged || isShowing) return
          typed.push(state.doc.toString())
          onType(state.doc.toString())
        }),
      ],
    }),
  })
  return {
    show: (content) => {
      properties = content.properties
      prefixes = content.prefixes
      const at = typed.indexOf(content.text)
      typed = at < 0 ? [] : typed.slice(at + 1)
      if (typed.length > 0) return
      isShowing = true
      if (content.text !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: content.text } })
      }
      view.dispatch({ effects: invalid.reconfigure(attributes(content.faults.length > 0)) })
      view.dispatch(
        setDiagnostics(
          view.state,
          [
            ...content.faults.map((fault) => ({ ...fault, severity: 'error' as const })),
            ...content.misfits.map((fault) => ({ ...fault, severity: 'warning' as const })),
          ].sort((a, b) => a.from - b.from),
        ),
      )
      isShowing = false
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}
