/** SQL: the ETag that `etagOf` makes. */
export const etagSql = (id: string, version: string): string => `'"' || ${id} || '-' || ${version} || '"'`

/** SQL: `If-None-Match` (a text parameter, empty without the header) doesn't name this tag, so the content is wanted. */
export const etagDiffers = (etag: string, ifNoneMatch: string): string =>
  `(strpos(${ifNoneMatch}, ${etag}) = 0 and ${ifNoneMatch} <> '*')`
