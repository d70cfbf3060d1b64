/** Only `express.ts` uses these packages, so their type packages aren't installed. */
declare module 'express'
declare module 'jsonwebtoken'
declare module 'pg'
