/** Packages that only `express.ts` uses. Their types are further packages. */
declare module 'express'
declare module 'jsonwebtoken'
declare module 'pg'
