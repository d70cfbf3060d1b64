/** Saves texts and drawings as files. */

/** Lets the browser save a text as a file. */
export const download = (name: string, text: string, type: string) => {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has started the download once this task is over.
  setTimeout(() => URL.revokeObjectURL(url))
}

/** A drawing's styles, which its file has to contain. */
const LOOK = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size']

/** Saves a figure's drawing in the page's colors. */
export const savePicture = (figure: Element | null, title: string) => {
  const drawing = figure?.querySelector('svg')
  if (!drawing) return
  const { width, height } = drawing.getBoundingClientRect()
  const copy = drawing.cloneNode(true) as SVGSVGElement
  const copies = copy.querySelectorAll('*')
  drawing.querySelectorAll('*').forEach((element, index) => {
    const look = getComputedStyle(element)
    for (const name of LOOK) copies[index]?.setAttribute(name, look.getPropertyValue(name))
  })
  for (const [name, value] of Object.entries({ x: 16, y: 44, width, overflow: 'visible' }))
    copy.setAttribute(name, String(value))
  const { color, backgroundColor } = getComputedStyle(drawing.closest('.card') ?? document.body)
  const text = title.replace(/[&<>]/g, (mark) => `&#${mark.charCodeAt(0)};`)
  download(
    `${title}.svg`,
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 32}" height="${height + 56}" font-family="system-ui, sans-serif">
<rect width="100%" height="100%" fill="${backgroundColor}"/><text x="16" y="28" fill="${color}" font-weight="600">${text}</text>
${new XMLSerializer().serializeToString(copy)}</svg>`,
    'image/svg+xml',
  )
}
