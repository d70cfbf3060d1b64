/** Whether no response came because an address with `https://` leads to a port for plain HTTP. @param error what `fetch` threw */
export const isPlainHttp = (error: Error & { cause?: unknown }): boolean =>
  /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(
    `${(error.cause as { code?: unknown } | undefined)?.code}`,
  )

export const PLAIN_HTTP_MESSAGE =
  'This port answers in plain HTTP, not HTTPS. Check the port of the service’s address.'

/** Whether a token can be sent to a service at this address: encrypted, or without leaving this machine. */
export const isSafeAddress = (address: string): boolean =>
  /^(https:\/\/[^/]|http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/|$))/i.test(address)
