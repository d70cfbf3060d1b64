import t from 'tap'
import type { RepohostKind } from '../schemas/common.js'
import { isPattern, likesOf, parsePattern, parsePatterns } from '../schemas/repo-pattern.js'

t.test('valid patterns depend on the kind of host', async (t) => {
  const everywhere = ['acme/*', 'acme/**', 'acme/a*b', 'acme/web']
  const withoutGroups = ['acme/a**b', 'acme/****']
  const withGroups = ['acme/platform/*', 'acme/platform/**', 'acme/platform/web', `a${'/b'.repeat(19)}/*`]
  const nowhere = [
    'acme/**/*',
    'acme/**/web',
    '**',
    'acme//x',
    `a${'/b'.repeat(20)}/*`,
    'acme/../x',
    'acme/./*',
  ]
  const accepted = (kind: RepohostKind) =>
    [...everywhere, ...withoutGroups, ...withGroups, ...nowhere].filter((pattern) => isPattern(pattern, kind))
  t.same(accepted('github'), [...everywhere, ...withoutGroups])
  t.same(accepted('forgejo'), [...everywhere, ...withoutGroups])
  t.same(accepted('gitlab'), [...everywhere, ...withGroups])
})

t.test('a pattern is an owner, a slash, and a name with stars', async (t) => {
  const wrong = [
    ['', '*', 'acme', 'acme/', '/x', '*/x', 'ac*me/x', '-/', ' acme/x', 'acme/x '],
    ['a/.', 'a/..', './x', 'a/x y', 'a/ü', 'a/x?', 'a/x%', 'a/x\\'],
  ]
  for (const text of wrong.flat()) {
    t.equal(parsePattern(text), undefined, text)
    t.notOk(isPattern(text, 'gitlab'), text)
  }
  for (const text of ['a/...', 'a/.x', 'a/..x', 'a/x.', 'a/-', 'a/_.*', '.a/x'])
    t.strictSame(parsePattern(text)?.pattern, text)
})

t.test('an exact pattern is as long as a name, and one with stars has up to 200 characters', async (t) => {
  const lengthOf = (pattern: string) => parsePattern(pattern)?.pattern.length
  t.equal(lengthOf(`acme/${'x'.repeat(100)}`), 105)
  t.equal(lengthOf(`acme/${'x'.repeat(101)}`), undefined)
  t.equal(lengthOf(`acme/*${'x'.repeat(194)}`), 200)
  t.equal(lengthOf(`acme/*${'x'.repeat(195)}`), undefined)
})

t.test('patterns are compared in lower case, and ranked by their number of literal characters', async (t) => {
  t.strictSame(parsePatterns(['Acme/Web_App', 'Acme/Sub/**-B*', 'a/*']), [
    {
      pattern: 'Acme/Web_App',
      ownerKey: 'acme',
      repoKey: 'web_app',
      exact: true,
      literalLength: 11,
      repoLike: 'web\\_app',
    },
    {
      pattern: 'Acme/Sub/**-B*',
      ownerKey: 'acme/sub',
      repoKey: '**-b*',
      exact: false,
      literalLength: 10,
      repoLike: '%-b%',
    },
    { pattern: 'a/*', ownerKey: 'a', repoKey: '*', exact: false, literalLength: 1, repoLike: '%' },
  ])
  t.throws(() => parsePatterns(['a/*', 'a/b/']), {
    message: 'The schema accepted a/b/, which isn’t a pattern',
  })
})

t.test('only two stars reach into subgroups, and one star stays in its group', async (t) => {
  const likes = (pattern: string) => parsePatterns([pattern]).flatMap(likesOf)
  t.strictSame(likes('a_b/c/d/x*'), ['a\\_b:c:d/x%'])
  t.strictSame(likes('acme/sub/**'), ['acme:sub/%', 'acme:sub:%'])
  t.strictSame(likes('acme/***'), ['acme/%'])
})
