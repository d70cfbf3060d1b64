/**
 * The `Content-Disposition` of a file to save (RFC 6266). Every client understands the plain name, which is ASCII; those
 * that can take the other one, which keeps all letters.
 */
export const attachmentOf = (name: string, ending: string): string => {
  const plain = toSlug(name.normalize('NFKD').replace(/\p{M}/gu, ''), /[^A-Za-z0-9._]+/g)
  const full = toSlug(name, /[^\p{L}\p{M}\p{N}._]+/gu)
  const disposition = `attachment; filename="${plain || 'file'}${ending}"`
  return full === plain
    ? disposition
    : `${disposition}; filename*=UTF-8''${encodeURIComponent(full + ending)}`
}

/** Neither hidden nor a path: what separates becomes a dash, and names neither begin nor end with one or with a dot. */
const toSlug = (name: string, separators: RegExp): string =>
  name.replace(separators, '-').replace(/^[-.]+|[-.]+$/g, '')
