/** Whether a token can be sent to a service at this address: encrypted, or without leaving this machine. */
export const isSafeAddress = (address: string): boolean =>
  /^(https:\/\/[^/]|http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(\/|$))/i.test(address)
