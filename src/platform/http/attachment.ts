/**
 * The `Content-Disposition` of a download (RFC 6266), with a plain ASCII name for every client, and the full name
 * for clients that support it.
 */
export const attachmentOf = (name: string, ending: string): string => {
  const plain = toSlug(name.normalize('NFKD').replace(/\p{M}/gu, ''), /[^A-Za-z0-9._]+/g)
  const full = toSlug(name, /[^\p{L}\p{M}\p{N}._]+/gu)
  const disposition = `attachment; filename="${plain || 'file'}${ending}"`
  return full === plain
    ? disposition
    : `${disposition}; filename*=UTF-8''${encodeURIComponent(full + ending)}`
}

/** Replaces separators with dashes, and removes dashes and dots at both ends, so that no file is hidden. */
const toSlug = (name: string, separators: RegExp): string =>
  name.replace(separators, '-').replace(/^[-.]+|[-.]+$/g, '')
