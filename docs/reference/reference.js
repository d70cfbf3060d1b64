// The reference: Swagger UI with a choice of two documents, a filter, code samples, and who is signed in.
const { SwaggerUIBundle } = window
const find = (selector) => document.querySelector(selector)

/** Keeps the operations whose method, path, summary or id has all words of the phrase. */
const opsFilter = (taggedOperations, phrase) => {
  const words = phrase.toLowerCase().split(/\s+/)
  const matches = (operation) => {
    const { summary = '', operationId = '' } = operation.get('operation').toJS()
    const text = [operation.get('method'), operation.get('path'), summary, operationId]
      .join(' ')
      .toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return taggedOperations
    .map((tag) => tag.update('operations', (operations) => operations.filter(matches)))
    .filter((tag) => tag.get('operations').size > 0)
}

/** Samples read the address of the service from the environment; here it is known. */
const sourceOf = (sample) =>
  sample
    .get('source')
    .replaceAll('$SERVICE', location.origin)
    .replaceAll('os.environ["SERVICE"] + "', `"${location.origin}`)

const codeSamplesOf = ({ React, specSelectors }) => {
  const h = React.createElement
  return ({ path, method }) => {
    const samples = specSelectors.specJson().getIn(['paths', path, method, 'x-codeSamples'])
    const [language, setLanguage] = React.useState(localStorage.getItem('code-samples') ?? 'curl')
    const [copied, setCopied] = React.useState(false)
    if (!samples) return null
    const chosen = samples.find((sample) => sample.get('label') === language) ?? samples.get(0)
    const source = sourceOf(chosen)
    const choose = (label) => {
      localStorage.setItem('code-samples', label)
      setLanguage(label)
      setCopied(false)
    }
    const tab = (label) =>
      h(
        'button',
        {
          key: label,
          type: 'button',
          'aria-pressed': chosen.get('label') === label,
          onClick: () => choose(label),
        },
        label,
      )
    const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(true))
    return h(
      'section',
      { className: 'code-samples', 'aria-label': `Code samples of ${method} ${path}` },
      h('h4', null, 'Code samples'),
      h(
        'div',
        { className: 'code-samples-bar' },
        ...samples.map((sample) => tab(sample.get('label'))),
        h('button', { type: 'button', className: 'copy', onClick: copy }, copied ? 'Copied' : 'Copy'),
      ),
      h('pre', { tabIndex: 0 }, h('code', null, source)),
    )
  }
}

const plugin = () => ({
  fn: { opsFilter },
  statePlugins: {
    auth: {
      wrapSelectors: {
        // Browsers send the cookie by themselves, and let no page set it.
        definitionsToAuthorize:
          (original) =>
          (...given) =>
            original(...given)?.filter((scheme) => !scheme.has('cookie')),
      },
    },
  },
  wrapComponents: {
    responses: (Original, system) => {
      const h = system.React.createElement
      const CodeSamples = codeSamplesOf(system)
      return (props) => h(system.React.Fragment, null, h(CodeSamples, props), h(Original, props))
    },
    // A link within a button is none that anybody can reach.
    DeepLink:
      (_, { React }) =>
      ({ text }) =>
        React.createElement('span', null, text),
    // In the header of the page, or not needed.
    FilterContainer: () => () => null,
    ServersContainer: () => () => null,
  },
})

/** Names for controls that Swagger UI leaves without one. */
const names = {
  '.close-modal': 'Close',
  '.examples-select-element': 'Example',
  '.content-type': 'Media type',
  '.copy-to-clipboard button': 'Copy',
  '.json-schema-2020-12-accordion:not(:has(.json-schema-2020-12-accordion__children *))': 'Show or hide',
  'textarea.body-param__text': 'Request body',
  '.parameters select, .parameters input[type="text"], .parameters textarea': 'Value',
}
/** Swagger UI leaves out the second level of headings. */
const levels = {
  'h3.opblock-tag, .modal-ux-header h3': 2,
  '.opblock h4, .modal-ux-content h4, section.models h4': 3,
  '.opblock h5': 4,
}
const mend = () => {
  for (const [selector, name] of Object.entries(names)) {
    for (const control of document.querySelectorAll(selector)) {
      if (control.hasAttribute('aria-label')) continue
      const parameter = control.closest('tr[data-param-name]')?.getAttribute('data-param-name')
      control.setAttribute('aria-label', parameter ?? name)
    }
  }
  for (const [selector, level] of Object.entries(levels))
    for (const heading of document.querySelectorAll(selector)) heading.setAttribute('aria-level', level)
  // It would contradict the text.
  for (const button of document.querySelectorAll('.auth-btn-wrapper [aria-label], .btn-clear[aria-label]'))
    button.removeAttribute('aria-label')
  for (const text of document.querySelectorAll('.highlight-code > pre, .microlight, .example'))
    if (!text.hasAttribute('tabindex')) text.tabIndex = 0
  const dialog = find('.dialog-ux')
  if (dialog && !dialog.dataset.opened) {
    dialog.dataset.opened = 'true'
    const content = dialog.querySelector('.modal-ux')
    for (const [name, value] of Object.entries({
      role: 'dialog',
      'aria-modal': 'true',
      'aria-label': 'Authorize',
    }))
      content.setAttribute(name, value)
    dialog.querySelector('input')?.focus()
  }
}
let mending = 0
new MutationObserver(() => {
  cancelAnimationFrame(mending)
  mending = requestAnimationFrame(mend)
}).observe(document.body, { childList: true, subtree: true })

const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', follow)
follow()

const choice = find('#document')
const asked = new URLSearchParams(location.search).get('urls.primaryName')
const wanted = [...choice.options].find(({ text }) => text === asked)
if (wanted) choice.value = wanted.value
const ui = SwaggerUIBundle({
  dom_id: '#reference',
  url: choice.value,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [SwaggerUIBundle.plugins.DownloadUrl, plugin],
  layout: 'BaseLayout',
  filter: true,
  docExpansion: 'list',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  defaultModelsExpandDepth: 0,
  // Otherwise the document would be sent to a validator on the Internet.
  validatorUrl: null,
})
choice.addEventListener('change', () => {
  ui.specActions.updateUrl(choice.value)
  ui.specActions.download(choice.value)
  history.replaceState(
    null,
    '',
    `?${new URLSearchParams({ 'urls.primaryName': choice.selectedOptions[0].text })}`,
  )
})
const filter = find('#filter')
filter.addEventListener('input', () => ui.layoutActions.updateFilter(filter.value.trim() || true))

// With the cookie of a browser login, operations are called as that person.
const caller = find('#caller')
fetch('/api/me').then(async (answer) => {
  if (answer.ok) caller.textContent = `Signed in as ${(await answer.json()).login}`
  caller.hidden = false
})
