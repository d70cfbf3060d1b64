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
