#!/usr/bin/env node
/** Posts the standard input as a comment: comment.mjs ADDRESS, with the value of the header in AUTHORIZATION. */
import { readFileSync } from 'node:fs'

const response = await fetch(process.argv[2], {
  method: 'POST',
  headers: { authorization: process.env.AUTHORIZATION, 'content-type': 'application/json' },
  body: JSON.stringify({ body: readFileSync(0, 'utf8') }),
})
if (!response.ok) throw new Error(`The comment was rejected: ${response.status} ${await response.text()}`)
