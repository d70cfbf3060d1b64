import { randomInt } from 'node:crypto'

/** No 0, 1, I, L or O: nothing that is mistaken for another when it is read aloud or typed. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ'
const GROUPS = 4
const GROUP_LENGTH = 5

/** 20 characters of 31, that is 99 random bits, in groups for reading. */
export const createInviteCode = (): string =>
  Array.from({ length: GROUPS }, () =>
    Array.from({ length: GROUP_LENGTH }, () => alphabet[randomInt(alphabet.length)]).join(''),
  ).join('-')

/** Case, dashes and blanks don't matter. */
export const inviteCodeKey = (code: string): string => code.replace(/[\s-]/g, '').toUpperCase()
