#!/usr/bin/env node
/**
 * Posts the standard input as a comment, or replaces the comment that it posted before: comment.mjs ADDRESS, with the address of
 * the comments of a pull request. AUTHORIZATION is the value of the header, and COMMENT_AUTHOR the login that the token belongs to.
 */
import { readFileSync } from 'node:fs'

const MARK = '<!-- team-settings -->'
const [, , comments = ''] = process.argv
const { AUTHORIZATION: authorization, COMMENT_AUTHOR } = process.env

const call = async (method, address, body) => {
  const headers = { authorization, 'content-type': 'application/json' }
  const response = await fetch(address, { method, headers, body: body && JSON.stringify({ body }) })
  if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${await response.text()}`)
  return response
}

const isGitLab = comments.endsWith('/notes')
/** GitLab tells whose token this is. */
const readAuthor = async () => {
  const response = await call('GET', comments.replace(/\/projects\/.*/, '/user'))
  return (await response.json()).username
}

/** The comment that an earlier run posted. Others can copy the mark, so the author must match, too. */
const find = async (author) => {
  for (let address = `${comments}?per_page=100`; address; ) {
    const response = await call('GET', address)
    const found = (await response.json()).find(
      (one) => (one.user?.login ?? one.author?.username) === author && one.body.startsWith(MARK),
    )
    if (found) return found
    address = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
  }
}

const text = `${MARK}\n${readFileSync(0, 'utf8')}`
const found = await find(COMMENT_AUTHOR ?? (await readAuthor()))
if (!found) await call('POST', comments, text)
else if (isGitLab) await call('PUT', `${comments}/${found.id}`, text)
else await call('PATCH', `${comments.replace(/\d+\/comments$/, 'comments')}/${found.id}`, text)
