/** Saves texts and drawings as files. */

/** Lets the browser save content as a file. */
export const download = (name: string, content: BlobPart, type: string) => {
  const url = URL.createObjectURL(new Blob([content], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has started the download once this task is over.
  setTimeout(() => URL.revokeObjectURL(url))
}

/** A drawing's styles, which its file has to contain. */
const LOOK = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size']

/** A figure's drawing as SVG, in the page's colors. */
const drawingOf = (figure: Element, title: string) => {
  const drawing = figure.querySelector('svg')
  if (!drawing) throw new Error('The figure has no drawing')
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
  const size = { width: width + 32, height: height + 56 }
  return {
    ...size,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" font-family="system-ui, sans-serif">
<rect width="100%" height="100%" fill="${backgroundColor}"/><text x="16" y="28" fill="${color}" font-weight="600">${text}</text>
${new XMLSerializer().serializeToString(copy)}</svg>`,
  }
}

/** Sharp on paper and on dense screens. */
const SCALE = 2

const pngOf = async (figure: Element, title: string): Promise<Blob> => {
  const { svg, width, height } = drawingOf(figure, title)
  const image = new Image()
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = width * SCALE
  canvas.height = height * SCALE
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The canvas is too large')))),
  )
}

/** Saves a figure's drawing, or copies it as PNG. */
export const savePicture = async (figure: Element, title: string, as: 'SVG' | 'PNG' | 'copy') => {
  if (as === 'SVG') return download(`${title}.svg`, drawingOf(figure, title).svg, 'image/svg+xml')
  const type = 'image/png'
  if (as === 'PNG') return download(`${title}.png`, await pngOf(figure, title), type)
  // Some browsers allow writing only in the task of the click, so the picture comes as a promise.
  await navigator.clipboard.write([new ClipboardItem({ [type]: pngOf(figure, title) })])
}
