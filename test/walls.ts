/**
 * Boundaries between features that import rules can't check: tables in SQL texts, and decorators of the app and its
 * requests. Both may be used by the feature that declares them, and by features above it.
 */
import { join, relative } from 'node:path'
import ts from 'typescript'
import { projectRoot } from '../src/platform/process/root.js'

const { below } = (await import(join(projectRoot, '.dependency-cruiser.mjs'))) as {
  below: Record<string, string[]>
}

const excused: Record<string, string> = {
  // Features report which milestones people reach, as they report numbers to `app.meter`, and get nothing back.
  milestones: 'decorator',
}

const pathOf = (file: ts.SourceFile) => relative(projectRoot, file.fileName)
/** A feature or `platform`, which is below all features. Undefined for code that joins features. */
const roomOf = (file: ts.SourceFile): string | undefined => {
  const room = pathOf(file).match(/^src\/(?:features\/)?([^/]+)\//)?.[1]
  return room === 'platform' || (room !== undefined && room in below) ? room : undefined
}

const literalOf = (node: ts.Node): string =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
    ? node.text
    : ''

/** Imports of a program's files from features that aren't below their own. */
export const breachesIn = (program: ts.Program): string[] => {
  const checker = program.getTypeChecker()
  const sources = join(projectRoot, 'src')
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(sources))
  const ownerOf = new Map<string, string>()
  for (const file of files.filter(({ fileName }) => /\/tables\.ts$/.test(fileName)))
    for (const [, name = ''] of file.text.matchAll(/\btable\(\s*'(\w+)'/g))
      ownerOf.set(name, roomOf(file) ?? '')
  const TABLES = new RegExp(
    `\\b(?:from|join|into|update|using)\\s+(${[...ownerOf.keys()].join('|')})\\b`,
    'g',
  )

  /** The features that declare a property of Fastify's app, request or reply. */
  const declaringRooms = (name: ts.Identifier): string[] => {
    const { parent } = name
    const property =
      ts.isPropertyAccessExpression(parent) && parent.name === name
        ? checker.getSymbolAtLocation(name)
        : ts.isBindingElement(parent) && parent.name === name
          ? checker.getTypeAtLocation(parent.parent).getProperty((parent.propertyName ?? name).getText())
          : undefined
    return (property?.declarations ?? []).flatMap((declaration) =>
      ts.isInterfaceDeclaration(declaration.parent) && /^Fastify/.test(declaration.parent.name.text)
        ? (roomOf(declaration.getSourceFile()) ?? [])
        : [],
    )
  }

  const breachesOf = (file: ts.SourceFile): string[] => {
    const room = roomOf(file)
    if (room === undefined) return []
    const found = new Set<string>()
    const note = (owner: string, name: string, kind: string) => {
      const mayUse = ['platform', room, ...(below[room] ?? [])].includes(owner)
      if (mayUse || excused[name] === kind || excused[pathOf(file)] === kind) return
      found.add(`${pathOf(file)} uses the ${kind} ${name} of ${owner}`)
    }
    const visit = (node: ts.Node): void => {
      for (const [, name = ''] of literalOf(node).matchAll(TABLES))
        note(ownerOf.get(name) ?? '', name, 'table')
      if (ts.isIdentifier(node)) for (const owner of declaringRooms(node)) note(owner, node.text, 'decorator')
      ts.forEachChild(node, visit)
    }
    visit(file)
    return [...found].sort()
  }
  return files.flatMap(breachesOf)
}
