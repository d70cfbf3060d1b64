// The reference: the service has written the list of operations. Swagger UI is loaded when a reader opens an operation, and gets
// the part of the document that this operation needs. The whole document would block the page for seconds.
const find = (selector) => document.querySelector(selector)
const content = find('#content')
const choice = find('#document')
const schemas = find('#schemas')
/** A browser can forbid a page to store anything. */
const storage = (() => {
  try {
    return localStorage
  } catch {
    return undefined
  }
})()

/** Like the function, but it runs once for each argument. A failure is not kept, so that the reader can try again. */
const once = (read) => {
  const readings = new Map()
  return (key) => {
    const reading = readings.get(key) ?? read(key)
    readings.set(key, reading)
    reading.catch(() => readings.delete(key))
    return reading
  }
}

const readDocument = once(async (address) => {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`)
  return answer.json()
})

const added = (element, place) =>
  new Promise((resolve, reject) => {
    element.addEventListener('load', resolve)
    element.addEventListener('error', reject)
    place.before(element)
  })

const loadSwaggerUi = once(() => {
  const { script, styleSheet } = content.dataset
  // The rules of the reference come after those of the library.
  const [first] = document.styleSheets
  return Promise.all([
    added(
      Object.assign(document.createElement('link'), { rel: 'stylesheet', href: styleSheet }),
      first.ownerNode,
    ),
    added(Object.assign(document.createElement('script'), { src: script }), first.ownerNode),
  ])
})

/** The chosen document, once Swagger UI and the writer of code samples are there. */
const load = async () => {
  const { codeSamples } = content.dataset
  const [chosen, { codeSamplesOf }] = await Promise.all([
    readDocument(choice.value),
    import(codeSamples),
    loadSwaggerUi(),
  ])
  writeSamples = codeSamplesOf
  return chosen
}
let writeSamples

/** The operation with its place in the document. */
const operationOf = ({ paths }, operationId) =>
  Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .find(({ operation }) => operation.operationId === operationId)

/** The document with these paths alone, and what they refer to. */
const partOf = ({ openapi, info, servers, components }, paths) => {
  const { bearer, ...otherSchemes } = components.securitySchemes
  const description = `${bearer.description} Most operations also accept an access key here.`
  const used = { securitySchemes: { bearer: { ...bearer, description }, ...otherSchemes } }
  const pending = [paths]
  while (pending.length > 0) {
    const references = JSON.stringify(pending.pop()).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)
    for (const [, kind, name] of references) {
      used[kind] ??= {}
      if (name in used[kind]) continue
      used[kind][name] = components[kind][name]
      pending.push(used[kind][name])
    }
  }
  return { openapi, info, servers, paths, components: used }
}

/** What a reference such as `#/components/headers/ETag` stands for. */
const resolved = ({ components }, { $ref }) => {
  const [, , kind, name] = $ref.split('/')
  return components[kind][name]
}

const isSuccess = (status) => Number(status) < 400

/** The answers as Swagger UI shows them. The others are only named, so that an answer counts as documented. */
const shownResponses = (responses) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { headers, ...response }]) => [
      status,
      isSuccess(status) ? response : { description: response.description },
    ]),
  )

/** A whole program, with the address of the service. */
const sourceOf = (sample) => {
  const source = window.withOrigin(sample.source)
  if (!source.includes('client.request(')) return source
  return `import { createClient } from '@team-settings/client'

const client = createClient({ baseUrl: '${location.origin}', token: process.env.TOKEN })
${source}`
}

/** What a reader has entered: a number or an object where it is one, and otherwise the text. */
const entered = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The operation with what the reader has entered in place of the examples. */
const withInput = ({ path, method, operation }, { specSelectors, oas3Selectors }) => {
  const given = specSelectors.parameterValues([path, method])
  const parameters = operation.parameters?.map((parameter) => {
    const value = given.get(`${parameter.in}.${parameter.name}`)
    if (value === undefined || value === '') return parameter
    const isText = parameter.schema?.type === 'string' || typeof value !== 'string'
    return { ...parameter, required: true, example: isText ? value : entered(value) }
  })
  const body = entered(oas3Selectors.requestBodyValue(path, method))
  const json = operation.requestBody?.content['application/json']
  // While a reader types, the text is often not JSON.
  if (!json || typeof body !== 'object') return { ...operation, parameters }
  const requestBody = {
    ...operation.requestBody,
    content: { 'application/json': { ...json, example: body } },
  }
  return { ...operation, parameters, requestBody }
}

const codeSamplesOf = (system, located) => {
  const { React, getStore } = system
  const h = React.createElement
  const { subscribe, getState } = getStore()
  return () => {
    const [language, setLanguage] = React.useState(storage?.getItem('code-samples') ?? 'curl')
    const [copied, setCopied] = React.useState(false)
    React.useSyncExternalStore(subscribe, getState)
    const samples = writeSamples(located.method, located.path, withInput(located, system))
    const chosen = samples.find((sample) => sample.label === language) ?? samples[0]
    const source = sourceOf(chosen)
    const choose = (label) => {
      storage?.setItem('code-samples', label)
      setLanguage(label)
    }
    React.useEffect(() => setCopied(false), [source])
    const tab = ({ label }) =>
      h(
        'button',
        { key: label, type: 'button', 'aria-pressed': chosen.label === label, onClick: () => choose(label) },
        label,
      )
    const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(true))
    return h(
      'section',
      { className: 'code-samples', 'aria-label': `Code samples of ${located.method} ${located.path}` },
      h('h4', null, 'Code samples'),
      h(
        'div',
        { className: 'code-samples-bar' },
        ...samples.map(tab),
        h('button', { type: 'button', className: 'copy', onClick: copy }, copied ? 'Copied' : 'Copy'),
      ),
      h('pre', { tabIndex: 0 }, h('code', null, source)),
    )
  }
}

/** The codes that an operation can answer, and its headers. Both are explained once and folded. */
const answersOf = ({ React }, chosen, responses) => {
  const h = React.createElement
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
  const errors = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content?.['application/problem+json']?.examples ?? {}).map(([name, example]) => ({
      name,
      status,
      href: `/api/docs/errors#${name}`,
      text: resolved(chosen, example).value.detail ?? '',
    })),
  )
  const allHeaders = Object.assign({}, ...Object.values(responses).map(({ headers }) => headers))
  const headers = Object.entries(allHeaders).map(([name, header]) => ({
    name,
    text: resolved(chosen, header).description ?? '',
  }))
  return () =>
    h(
      'section',
      { className: 'answers', 'aria-label': 'Errors and headers' },
      folded('Errors', errors),
      folded('Response headers', headers),
    )
}

/** The service has written a link to sign in. */
const caller = find('#caller')
const isSignedOut = caller.hasChildNodes()
/** The person with the cookie of a browser login, once it's known. */
let login = 'yourself'

/** The parts of the page that Swagger UI has filled. */
const systems = new Set()

const showAuthorized = () => {
  const stored = storage?.getItem('authorized') ?? '{}'
  find('#authorize').classList.toggle('locked', stored !== '{}')
}
showAuthorized()

const shared = {
  statePlugins: {
    auth: {
      wrapSelectors: {
        // One field: a token, or an access key in its place. Few operations have another kind of secret, which comes first there.
        definitionsForRequirements: (original) => (_state, requirements) => original(requirements).take(1),
      },
      wrapActions: {
        // An authorization in one part of the page holds in all of them.
        persistAuthorizationIfNeeded:
          (original, { authSelectors }) =>
          () => {
            original()
            const authorized = authSelectors.authorized().toJS()
            for (const { authActions } of systems) authActions.restoreAuthorization({ authorized })
            showAuthorized()
          },
      },
    },
  },
  wrapComponents: {
    // The page has the button. Its dialog is here.
    authorizeBtn:
      (_, { React }) =>
      ({ showPopup, getComponent }) =>
        showPopup && React.createElement(getComponent('authorizationPopup', true)),
    // The page has the headings of the groups.
    OperationTag:
      () =>
      ({ children }) =>
        children,
    // Examples can be copied as well.
    HighlightCode:
      (Original, { React }) =>
      (props) =>
        React.createElement(Original, { ...props, canCopy: true }),
    // A link without an address, in a row that the page has.
    OperationSummaryPath: () => () => null,
    // The code samples have it.
    curl: () => () => null,
    liveResponse:
      (Original, { React }) =>
      (props) => {
        const place = React.useRef()
        React.useEffect(() => place.current.scrollIntoView({ block: 'nearest' }), [props.response])
        return React.createElement(
          'div',
          { ref: place, className: 'live' },
          React.createElement(Original, props),
        )
      },
    execute:
      (Original, { React, authSelectors }) =>
      (props) => {
        const h = React.createElement
        const security = props.operation.get('security')
        const isOpen = !security?.size || authSelectors.isAuthorized(security)
        const address = `/api/docs${location.search}#/${props.operation.getIn(['tags', 0])}/${props.operation.get('operationId')}`
        const signIn = `/api/auth/repohost?return_to=${encodeURIComponent(address)}`
        const place = React.useRef()
        const [isAsked, ask] = React.useState(props.method === 'get')
        // Swagger UI has no other place for the button's text.
        React.useEffect(() => {
          const button = place.current.querySelector('.execute')
          const isToken = security?.size && isOpen
          if (button)
            button.textContent = isToken ? 'Send with your token' : isSignedOut ? 'Send' : `Send as ${login}`
        })
        return h(
          'div',
          { ref: place, className: 'sending' },
          ...(isAsked
            ? [
                props.method !== 'get' &&
                  h('p', { className: 'warning' }, 'This can change or delete real data of this service.'),
                h(Original, props),
              ]
            : [h('button', { type: 'button', className: 'btn', onClick: () => ask(true) }, 'Send…')]),
          isSignedOut && !isOpen && h('a', { className: 'btn', href: signIn }, 'Sign in'),
        )
      },
  },
}

/** Fills an element with a component of Swagger UI for a part of the document. */
const fillWith = (domNode, spec, component, { plugin = {}, ...options } = {}) => {
  const { SwaggerUIBundle } = window
  const Part = ({ React, getComponent }) => {
    const h = React.createElement
    const dialog = h(getComponent('AuthorizeBtnContainer', true))
    return h('div', { className: 'swagger-ui' }, component && h(getComponent(component, true)), dialog)
  }
  const system = SwaggerUIBundle({
    domNode,
    spec,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [shared, plugin, { components: { Part } }],
    layout: 'Part',
    docExpansion: 'full',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    persistAuthorization: storage !== undefined,
    // Otherwise the document would be sent to a validator on the Internet.
    validatorUrl: null,
    ...options,
  })
  systems.add(system)
  return system
}

const fillOperation = (domNode, chosen, operationId) => {
  const located = operationOf(chosen, operationId)
  const { path, method, operation } = located
  const { 'x-codeSamples': _, ...rest } = operation
  const shown = { ...rest, responses: shownResponses(operation.responses) }
  const responses = (Original, system) => {
    const h = system.React.createElement
    const CodeSamples = codeSamplesOf(system, located)
    const Answers = answersOf(system, chosen, operation.responses)
    return (props) =>
      h(
        system.React.Fragment,
        null,
        h(CodeSamples),
        h(Original, {
          ...props,
          responses: props.responses.filter((_response, status) => isSuccess(status)),
        }),
        h(Answers),
      )
  }
  fillWith(domNode, partOf(chosen, { [path]: { [method]: shown } }), 'operations', {
    plugin: { wrapComponents: { responses } },
  })
}

const fillSchemas = (domNode, { openapi, info, components }) =>
  fillWith(domNode, { openapi, info, paths: {}, components }, 'Models', { defaultModelsExpandDepth: 1 })

/** Loads what an opened part of the page needs, and fills the part once. */
const open = async (part, fill) => {
  const body = part.querySelector('.body')
  if (body.dataset.filled) return
  body.dataset.filled = 'true'
  body.textContent = 'Loading…'
  body.setAttribute('aria-busy', 'true')
  try {
    fill(body, await load())
  } catch {
    delete body.dataset.filled
    body.textContent = 'Could not load this part. Close it, then open it again.'
  }
  body.removeAttribute('aria-busy')
}

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
  '.modal-ux-header h3': 2,
  '.opblock h4, .modal-ux-content h4': 3,
  '.opblock h5': 4,
}
/** The button that was pressed last, outside of the dialog. */
let pressed
content.addEventListener(
  'click',
  ({ target }) => {
    if (!target.closest('.dialog-ux')) pressed = target.closest('button')
  },
  true,
)
let isDialogOpen = false
const improveAccessibility = () => {
  for (const [selector, name] of Object.entries(names)) {
    for (const control of content.querySelectorAll(selector)) {
      if (control.hasAttribute('aria-label')) continue
      const parameter = control.closest('tr[data-param-name]')?.getAttribute('data-param-name')
      control.setAttribute('aria-label', parameter ?? name)
    }
  }
  for (const [selector, level] of Object.entries(levels))
    for (const heading of content.querySelectorAll(selector)) heading.setAttribute('aria-level', level)
  // It would contradict the text.
  for (const button of content.querySelectorAll('.auth-btn-wrapper [aria-label], .btn-clear[aria-label]'))
    button.removeAttribute('aria-label')
  for (const text of content.querySelectorAll('.highlight-code > pre, .microlight, .example'))
    if (!text.hasAttribute('tabindex')) text.tabIndex = 0
  const dialog = find('.dialog-ux')
  if (!dialog && isDialogOpen) pressed?.focus()
  if (dialog && !isDialogOpen) {
    const modal = dialog.querySelector('.modal-ux')
    for (const [name, value] of Object.entries({
      role: 'dialog',
      'aria-modal': 'true',
      'aria-label': 'Authorize',
    }))
      modal.setAttribute(name, value)
    dialog.querySelector('input')?.focus()
  }
  isDialogOpen = dialog !== null
}
let nextFrame = 0
new MutationObserver(() => {
  cancelAnimationFrame(nextFrame)
  nextFrame = requestAnimationFrame(improveAccessibility)
}).observe(content, { childList: true, subtree: true })
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') find('.close-modal')?.click()
})

/** The dialog for the schemes of a document. */
const dialogOf = once(async (_address) => {
  const place = document.createElement('div')
  find('#authorizing').append(place)
  return fillWith(place, partOf(await load(), {}))
})
find('#authorize').addEventListener('click', async () => {
  try {
    const { authActions, authSelectors } = await dialogOf(choice.value)
    authActions.showDefinitions(authSelectors.definitionsToAuthorize().take(1))
  } catch {
    caller.textContent = 'Could not load the dialog. Try again.'
  }
})

const nameOf = (search) => new URLSearchParams(search).get('urls.primaryName')
/** The place of the document with all operations. The first one has those of the core. */
const EVERYTHING = 1
/** The link to an operation in the list beside the page. Its address names the document, if it is not the first. */
const linkOf = (hash) => [...document.querySelectorAll('#side details a')].find((link) => link.hash === hash)
const rowOf = (hash) => find(`[data-operation="${CSS.escape(hash.slice(2))}"]`)

/** Marks an operation in the list beside the page, and opens its group. */
const markCurrent = (hash) => {
  for (const link of document.querySelectorAll('#side [aria-current]')) link.removeAttribute('aria-current')
  const link = linkOf(hash)
  link.setAttribute('aria-current', 'page')
  link.closest('details').open = true
  link.scrollIntoView({ block: 'nearest' })
}

const showDocument = () => {
  content.classList.toggle('core', choice.selectedIndex === 0)
  // Filled again from the other document.
  schemas.open = false
  const body = document.createElement('div')
  body.className = 'body'
  schemas.querySelector('.body').replaceWith(body)
  const query = new URLSearchParams({ 'urls.primaryName': choice.selectedOptions[0].text })
  const isHidden = rowOf(location.hash)?.matches('.core .beyond-core')
  history.replaceState(null, '', `?${query}${isHidden ? '' : location.hash}`)
}
choice.addEventListener('change', showDocument)
addEventListener('popstate', () => {
  const named = [...choice.options].findIndex(({ text }) => text === nameOf(location.search))
  const index = named < 0 ? (isSignedOut ? 0 : EVERYTHING) : named
  if (choice.selectedIndex === index) return
  choice.selectedIndex = index
  showDocument()
})

// Events of details do not bubble.
content.addEventListener(
  'toggle',
  ({ target }) => {
    if (target === schemas && target.open) open(schemas, fillSchemas)
    const { operation } = target.dataset
    if (!operation) return
    const hash = `#/${operation}`
    const isAddressed = location.hash === hash
    if (target.open) {
      if (!isAddressed) history.pushState(null, '', hash)
      markCurrent(hash)
      open(target, (body, chosen) => fillOperation(body, chosen, operation.split('/')[1]))
    } else if (isAddressed) history.replaceState(null, '', location.pathname + location.search)
  },
  true,
)
/** Opens the operation of an address such as `#/team/createInvite`, or shows the group of one such as `#/team`. */
const follow = (hash) => {
  const group = find(`[data-tag="${CSS.escape(hash.slice(2))}"]`)
  const row = rowOf(hash)
  if ((row ?? group)?.matches('.core .beyond-core')) {
    choice.selectedIndex = EVERYTHING
    showDocument()
  }
  group?.scrollIntoView()
  if (!row) return
  row.closest('.group').open = true
  row.open = true
  markCurrent(hash)
  row.scrollIntoView()
  row.querySelector('summary').focus({ preventScroll: true })
}
document.addEventListener('click', (event) => {
  const link = event.target.closest('a')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (link.pathname !== location.pathname || !rowOf(link.hash)) return
  event.preventDefault()
  if (location.hash !== link.hash) history.pushState(null, '', link.hash)
  follow(link.hash)
})
addEventListener('hashchange', () => follow(location.hash))
follow(location.hash)

// With the cookie of a browser login, operations are called as that person.
if (!isSignedOut)
  fetch('/api/me').then(async (answer) => {
    if (!answer.ok) return
    login = (await answer.json()).login
    caller.textContent = `Signed in as ${login}`
  })
