// The reference: Swagger UI with a choice of two documents, code samples, folded headers and errors, and who is signed in.
const { SwaggerUIBundle } = window
const find = (selector) => document.querySelector(selector)

/** A whole program, with the address of the service. */
const sourceOf = (sample) => {
  const source = window.withOrigin(sample.get('source'))
  if (!source.includes('client.request(')) return source
  return `import { createClient } from '@team-settings/client'

const client = createClient({ baseUrl: '${location.origin}', token: process.env.TOKEN })
${source}`
}

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

/** The codes that an operation can answer, and its headers. Both are explained once and folded. */
const answersOf = ({ React, specSelectors }) => {
  const h = React.createElement
  const componentsOf = (kind) => specSelectors.specJson().getIn(['components', kind])
  const folded = (title, rows) =>
    rows.length > 0 &&
    h(
      'details',
      null,
      h('summary', null, `${title} (${rows.length})`),
      h(
        'dl',
        null,
        ...rows.map(({ name, text, href, status }) =>
          h(
            'div',
            { key: name },
            h('dt', null, status && `${status} `, h('code', null, href ? h('a', { href }, name) : name)),
            h('dd', null, text.replaceAll('`', '')),
          ),
        ),
      ),
    )
  return ({ responses }) => {
    const errors = responses.entrySeq().flatMap(([status, response]) => {
      const examples = response.getIn(['content', 'application/problem+json', 'examples'])
      if (!examples) return []
      return examples.entrySeq().map(([name, example]) => {
        const detail = example.getIn(['value', 'detail']) ?? ''
        return { name, status, href: `/api/docs/errors#${name}`, text: detail }
      })
    })
    const names = responses
      .valueSeq()
      .flatMap((response) => response.get('headers')?.keySeq() ?? [])
      .toOrderedSet()
    const headers = names.map((name) => ({
      name,
      text: componentsOf('headers')?.getIn([name, 'description']) ?? '',
    }))
    return h(
      'section',
      { className: 'answers', 'aria-label': 'Errors and headers' },
      folded('Errors', errors.toArray()),
      folded('Response headers', headers.toArray()),
    )
  }
}

const isSuccess = (_response, status) => Number(status) < 400

const plugin = () => ({
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
    spec: {
      wrapSelectors: {
        // The bar names the product.
        info: (original) => (state) => {
          const info = original(state)
          return info.has('title')
            ? info.update('title', (title) => title.replace(/^[^:]*/, 'API reference'))
            : info
        },
      },
    },
    layout: {
      wrapActions: {
        show:
          (original) =>
          (thing, isShown = true) => {
            if (isShown && thing[0] === 'operations') markCurrent(thing[1], thing[2])
            return original(thing, isShown)
          },
      },
    },
  },
  wrapComponents: {
    responses: (Original, system) => {
      const h = system.React.createElement
      const CodeSamples = codeSamplesOf(system)
      const Answers = answersOf(system)
      return (props) => {
        const { responses } = props
        const successes = responses.filter(isSuccess).map((response) => response.delete('headers'))
        return h(
          system.React.Fragment,
          null,
          h(CodeSamples, props),
          h(Original, { ...props, responses: successes }),
          h(Answers, { responses }),
        )
      }
    },
    // Examples can be copied as well.
    HighlightCode:
      (Original, { React }) =>
      (props) =>
        React.createElement(Original, { ...props, canCopy: true }),
    // A link within a button is none that anybody can reach.
    DeepLink:
      (_, { React }) =>
      ({ text }) =>
        React.createElement('span', null, text),
    // Not needed.
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

/** Marks an operation in the list beside the page, and opens its group. */
const markCurrent = (tag, operationId) => {
  for (const link of document.querySelectorAll('#side [aria-current]')) link.removeAttribute('aria-current')
  const link = linkOf(`#/${tag}/${operationId}`)
  if (!link) return
  link.setAttribute('aria-current', 'page')
  link.closest('details').open = true
  link.scrollIntoView({ block: 'nearest' })
}

const choice = find('#document')
const nameOf = (search = '') => new URLSearchParams(search).get('urls.primaryName')
/** The link to an operation in the list beside the page. Its address names the document, if it is not the first. */
const linkOf = (hash) => [...document.querySelectorAll('#side details a')].find((link) => link.hash === hash)
const optionOf = (name) => [...choice.options].find(({ text }) => text === name)
const wanted = optionOf(nameOf(location.search) ?? nameOf(linkOf(location.hash)?.search))
if (wanted) choice.value = wanted.value
const ui = SwaggerUIBundle({
  dom_id: '#reference',
  url: choice.value,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [SwaggerUIBundle.plugins.DownloadUrl, plugin],
  layout: 'BaseLayout',
  docExpansion: 'list',
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  defaultModelsExpandDepth: 0,
  // Otherwise the document would be sent to a validator on the Internet.
  validatorUrl: null,
})
const showDocument = () => {
  ui.specActions.updateUrl(choice.value)
  ui.specActions.download(choice.value)
  const query = new URLSearchParams({ 'urls.primaryName': choice.selectedOptions[0].text })
  history.replaceState(null, '', `?${query}`)
}
choice.addEventListener('change', showDocument)

/** Resolves when an element with this id is in the reference. */
const present = (id) =>
  new Promise((resolve) => {
    const look = () => {
      const element = document.getElementById(id)
      if (element) resolve(element)
      return element
    }
    if (look()) return
    const observer = new MutationObserver(() => look() && observer.disconnect())
    observer.observe(find('#reference'), { childList: true, subtree: true })
  })

/** Opens the operation of an address such as `#/team/createInvite`. */
const openOperation = async (hash) => {
  const [, tag, operationId] = hash.split('/')
  const needed = optionOf(nameOf(linkOf(hash).search))
  if (needed && !needed.selected) {
    needed.selected = true
    showDocument()
  }
  await present(`operations-tag-${tag}`)
  const group = ['operations-tag', tag]
  if (!ui.layoutSelectors.isShown(group, true)) ui.layoutActions.show(group, true)
  const operation = await present(`operations-${tag}-${operationId}`)
  ui.layoutActions.show(['operations', tag, operationId], true)
  operation.scrollIntoView()
  operation.querySelector('.opblock-summary-control')?.focus({ preventScroll: true })
}
document.addEventListener('click', (event) => {
  const link = event.target.closest('a')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (link.pathname !== location.pathname || !linkOf(link.hash)) return
  event.preventDefault()
  openOperation(link.hash)
})

addEventListener('hashchange', () => linkOf(location.hash) && openOperation(location.hash))
// Swagger UI adds an entry to the history even where the address stays the same, which breaks the way back.
const { pushState } = history
history.pushState = (state, title, url) => {
  if (url !== location.hash) pushState.call(history, state, title, url)
}

// With the cookie of a browser login, operations are called as that person.
const caller = find('#caller')
fetch('/api/me').then(async (answer) => {
  if (answer.ok) caller.textContent = `Signed in as ${(await answer.json()).login}`
  caller.hidden = false
})
