/** The result of the work or, if it takes longer, of `late`. The work isn't ended. */
export const inTime = async <T, Late>(work: Promise<T>, ms: number, late: () => Late): Promise<T | Late> => {
  let timer: NodeJS.Timeout | undefined
  const wait = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  try {
    return await Promise.race([work, wait.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
