/** Whether `Accept` (RFC 9110, section 12.5.1) prefers CSV to JSON; JSON where it does not care. */
export const prefersCsv = (accept: string | undefined): boolean => {
  if (accept === undefined) return false
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    return { type, weight: weight === undefined ? 1 : Number(weight) || 0 }
  })
  const weightOf = (...names: string[]) => {
    for (const name of names) {
      const range = ranges.find(({ type }) => type === name)
      if (range) return range
    }
    return { type: '', weight: 0 }
  }
  const csv = weightOf('text/csv', 'text/*', '*/*')
  const json = weightOf('application/json', 'application/*', '*/*')
  // Of two that weigh the same, one that is named counts more than one that a wildcard lets in.
  return (
    csv.weight > json.weight ||
    (csv.weight > 0 && csv.weight === json.weight && csv.type === 'text/csv' && json.type === '*/*')
  )
}

/** Whether `Accept` names a media type itself; what only a wildcard lets in is not meant. */
export const namesType = (accept: string | undefined, type: string): boolean =>
  accept?.split(',').some((range) => range.split(';')[0]?.trim().toLowerCase() === type) ?? false
