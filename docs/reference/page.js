// On every page of the documentation: the theme, the filter, copy buttons, and the address of the service in samples.
{
  const root = document.documentElement

  // The dashboard stores the same key.
  const themes = ['system', 'light', 'dark']
  const storedTheme = () => {
    try {
      return themes.find((theme) => theme === localStorage.getItem('theme')) ?? 'system'
    } catch {
      // The browser may block storage.
      return 'system'
    }
  }
  const systemIsDark = matchMedia('(prefers-color-scheme: dark)')
  let theme = storedTheme()
  const applyTheme = () => {
    root.dataset.theme = theme
    // The class is Swagger UI's.
    root.classList.toggle('dark-mode', theme === 'dark' || (theme === 'system' && systemIsDark.matches))
    const button = document.querySelector('#theme')
    if (!button) return
    button.hidden = false
    button.title = `Change theme (${theme})`
    button.setAttribute('aria-label', button.title)
    const filled = {
      system: 'M8 1.5a6.5 6.5 0 0 1 0 13z',
      dark: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 1 1 0-13z',
    }
    button.querySelector('path').setAttribute('d', filled[theme] ?? '')
  }
  const nextTheme = () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length]
    applyTheme()
    try {
      localStorage.setItem('theme', theme)
    } catch {
      // The choice lasts until the page is closed.
    }
  }
  systemIsDark.addEventListener('change', applyTheme)
  // Another tab has changed the theme.
  addEventListener('storage', ({ key }) => {
    if (key !== 'theme') return
    theme = storedTheme()
    applyTheme()
  })
  applyTheme()

  /** Samples read the address of the service from the environment; here it is known. */
  window.withOrigin = (source) =>
    source
      .replaceAll('os.environ["SERVICE"] + "', `"${location.origin}`)
      // biome-ignore lint/suspicious/noTemplateCurlyInString: part of a sample
      .replaceAll('${process.env.SERVICE}', location.origin)
      .replaceAll('process.env.SERVICE', `'${location.origin}'`)
      .replaceAll('$SERVICE', location.origin)
      .replaceAll(/^SERVICE=.*$/gm, `SERVICE=${location.origin}`)

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties)
    made.append(...children)
    return made
  }

  const addCopyButton = (pre) => {
    const copy = element('button', { type: 'button', className: 'copy', textContent: 'Copy' })
    copy.addEventListener('click', async () => {
      await navigator.clipboard.writeText(pre.textContent)
      copy.textContent = 'Copied'
    })
    const sample = element('div', { className: 'sample' })
    pre.replaceWith(sample)
    sample.append(pre, copy)
  }

  /** What readers call something that has another name here. */
  const synonyms = [
    ['unauthorized', 'unauthenticated'],
    ['unauthorised', 'unauthenticated'],
    ['permission', 'forbidden'],
    ['roll back', 'restore'],
    ['rollback', 'restore'],
    ['undo', 'restore'],
    ['pagination', 'cursor'],
    ['paging', 'cursor'],
    ['log in', 'sign in'],
    ['login', 'sign in'],
    ['api key', 'access key'],
    ['throttling', 'rate limit'],
    ['quota', 'limit'],
  ]
  /** The phrase, and the phrase in the words of the documentation. */
  const phrasesOf = (phrase) => [
    phrase,
    ...synonyms.filter(([said]) => phrase.includes(said)).map(([said, here]) => phrase.replace(said, here)),
  ]

  /** The entries that have every word. First come those whose titles have the phrase, then those whose titles have its words. */
  const matchesOf = (entries, phrase) => {
    const rankOf = ({ kind, title, text }, wanted) => {
      const have = (text) => wanted.split(/\s+/).every((word) => text.toLowerCase().includes(word))
      if (title.toLowerCase().includes(wanted)) return 0
      if (have(`${kind} ${title}`)) return 1
      return have(`${kind} ${title} ${text}`) ? 2 : 3
    }
    const phrases = phrasesOf(phrase.toLowerCase())
    return entries
      .map((entry) => ({ ...entry, rank: Math.min(...phrases.map((wanted) => rankOf(entry, wanted))) }))
      .filter(({ rank }) => rank < 3)
      .sort((a, b) => a.rank - b.rank)
  }

  /** The part of the text that has the first word, or its start if the title has the word. */
  const excerptOf = ({ title, text }, phrase) => {
    const words = phrasesOf(phrase.toLowerCase()).map((wanted) => wanted.split(/\s+/)[0])
    const isInTitle = words.some((word) => title.toLowerCase().includes(word))
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0)
    const start = isInTitle || places.length === 0 ? 0 : Math.max(0, Math.min(...places) - 40)
    return (start > 0 ? '…' : '') + text.slice(start, start + 120) + (start + 120 < text.length ? '…' : '')
  }

  const startFilter = (field, results, announcement) => {
    let index
    const load = () => {
      index ??= fetch(field.dataset.index).then((answer) => answer.json())
      return index
    }
    const close = () => {
      results.hidden = true
    }
    const show = async () => {
      const phrase = field.value.trim()
      if (!phrase) return close()
      let message = 'The list did not load. Reload the page.'
      const items = []
      try {
        const matches = matchesOf(await load(), phrase)
        message = matches.length === 0 ? `No results for "${phrase}"` : `Results: ${matches.length}`
        for (const match of matches) {
          const { href, kind, title } = match
          const method = element('span', { className: `method ${kind.toLowerCase()}`, textContent: kind })
          const excerpt = element('small', { textContent: excerptOf(match, phrase) })
          items.push(element('li', {}, element('a', { href }, method, title, excerpt)))
        }
      } catch {
        index = undefined
      }
      // The reader has typed on.
      if (phrase !== field.value.trim()) return
      results.replaceChildren(element('p', { textContent: message }), element('ul', {}, ...items))
      announcement.textContent = message
      results.hidden = false
    }
    field.addEventListener('focus', load, { once: true })
    field.addEventListener('input', show)
    field.addEventListener('focus', show)
    const filter = field.parentElement
    filter.addEventListener('keydown', (event) => {
      const links = [...results.querySelectorAll('a')]
      const current = links.indexOf(document.activeElement)
      const target = {
        ArrowDown: links[current + 1],
        ArrowUp: links[current - 1] ?? field,
        Escape: field,
        Enter: current < 0 ? links[0] : undefined,
      }[event.key]
      if (!target || results.hidden) return
      event.preventDefault()
      if (event.key === 'Escape') {
        field.value = ''
        close()
      }
      if (event.key === 'Enter') target.click()
      else target.focus()
    })
    filter.addEventListener('focusout', ({ relatedTarget }) => {
      if (!filter.contains(relatedTarget)) close()
    })
    results.addEventListener('click', (event) => {
      if (event.target.closest('a')) close()
    })
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.target.closest('input, textarea, select')) return
      event.preventDefault()
      field.focus()
    })
    // The reader may have typed before the listeners were there.
    if (document.activeElement === field) show()
  }

  document.addEventListener('DOMContentLoaded', () => {
    applyTheme()
    document.querySelector('#theme').addEventListener('click', nextTheme)
    startFilter(
      document.querySelector('#filter'),
      document.querySelector('#results'),
      document.querySelector('#found'),
    )
    for (const code of document.querySelectorAll('.text pre code'))
      code.textContent = window.withOrigin(code.textContent)
    for (const pre of document.querySelectorAll('.text pre')) addCopyButton(pre)
    const side = document.querySelector('#side')
    side.addEventListener('click', (event) => {
      if (event.target.closest('a') && side.matches(':popover-open')) side.hidePopover()
    })
  })
}
