/** Which error codes a route can throw: followed through the sources, from its handler to every function that it refers to. */
import { join } from 'node:path'
import ts from 'typescript'
import { projectRoot } from '../src/platform/process/root.js'

export interface RouteCodes {
  operationId: string
  codes: Set<string>
}

const sources = join(projectRoot, 'src')

export const thrownCodes = (program: ts.Program): RouteCodes[] => {
  const checker = program.getTypeChecker()
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(sources))
  const implementations = findImplementations(checker, files)

  /** The functions and values of the sources that a name refers to. They are followed next. */
  const targetsOf = (name: ts.Node): ts.Node[] => {
    let symbol = ts.isShorthandPropertyAssignment(name.parent)
      ? checker.getShorthandAssignmentValueSymbol(name.parent)
      : checker.getSymbolAtLocation(name)
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
    return (symbol?.declarations ?? []).flatMap((declaration) => {
      if (!declaration.getSourceFile().fileName.startsWith(sources)) return []
      if (ts.isPropertySignature(declaration) || ts.isMethodSignature(declaration))
        return implementations.get(declaration) ?? []
      if (ts.isPropertyAssignment(declaration))
        return isCallable(checker, declaration) ? [declaration.initializer] : []
      if (ts.isVariableDeclaration(declaration))
        return declaration.initializer ? [declaration.initializer] : []
      return ts.isFunctionLike(declaration) ? [declaration] : []
    })
  }

  /** The codes in a function, and the functions that it refers to. Many routes reach the same ones, which are read once. */
  const contents = new Map<ts.Node, { codes: string[]; targets: ts.Node[] }>()
  const contentOf = (root: ts.Node) => {
    const known = contents.get(root)
    if (known) return known
    const content = { codes: [] as string[], targets: [] as ts.Node[] }
    const visit = (node: ts.Node): void => {
      if (ts.isTypeNode(node)) return
      if (ts.isNewExpression(node) && node.expression.getText() === 'ApiError' && node.arguments?.[0]) {
        const type = checker.getTypeAtLocation(node.arguments[0])
        for (const part of type.isUnion() ? type.types : [type])
          if (part.isStringLiteral()) content.codes.push(part.value)
      }
      if (ts.isIdentifier(node)) content.targets.push(...targetsOf(node))
      ts.forEachChild(node, visit)
    }
    visit(root)
    contents.set(root, content)
    return content
  }

  const codesFrom = (roots: ts.Node[]): Set<string> => {
    const codes = new Set<string>()
    const reached = new Set<ts.Node>(roots)
    // What is added meanwhile is visited as well.
    for (const node of reached) {
      const content = contentOf(node)
      for (const code of content.codes) codes.add(code)
      for (const target of content.targets) reached.add(target)
    }
    return codes
  }

  return files.flatMap((file) =>
    routesIn(file).flatMap((route) => {
      const config = member(route, 'config')
      const validate = config && member(config, 'validate')
      const roots = [member(route, 'handler'), validate].filter((root) => root !== undefined)
      const codes = codesFrom(roots)
      return operationIdsOf(checker, route).map((operationId) => ({ operationId, codes }))
    }),
  )
}

/** The program of the service, with further sources by their absolute paths. */
export const createProgram = (extra: Record<string, string>): ts.Program => {
  const path = join(projectRoot, 'tsconfig.build.json')
  const { config } = ts.readConfigFile(path, ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, projectRoot)
  const host = ts.createCompilerHost({ ...options, incremental: false })
  const { readFile, fileExists } = host
  host.readFile = (file) => extra[file] ?? readFile(file)
  host.fileExists = (file) => file in extra || fileExists(file)
  return ts.createProgram([...fileNames, ...Object.keys(extra)], { ...options, incremental: false }, host)
}

const isCallable = (checker: ts.TypeChecker, node: ts.Node): boolean =>
  checker.getTypeAtLocation(node).getCallSignatures().length > 0

/** For every function of an interface: what object literals of that type have in its place. */
const findImplementations = (checker: ts.TypeChecker, files: ts.SourceFile[]) => {
  const found = new Map<ts.Node, ts.Node[]>()
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const type = checker.getContextualType(node)
      for (const property of node.properties) {
        const name = property.name?.getText()
        if (!name || !isCallable(checker, property)) continue
        for (const declaration of type?.getProperty(name)?.declarations ?? []) {
          found.set(declaration, [...(found.get(declaration) ?? []), property])
        }
      }
    }
    ts.forEachChild(node, visit)
  }
  for (const file of files) visit(file)
  return found
}

/** The object literals that are given to `….route(…)`. */
const routesIn = (file: ts.SourceFile): ts.ObjectLiteralExpression[] => {
  const routes: ts.ObjectLiteralExpression[] = []
  const visit = (node: ts.Node): void => {
    if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.name.text === 'route' &&
      node.arguments[0] &&
      ts.isObjectLiteralExpression(node.arguments[0])
    ) {
      routes.push(node.arguments[0])
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return routes
}

const member = (object: ts.Node, name: string): ts.Node | undefined =>
  ts.isObjectLiteralExpression(object)
    ? object.properties
        .filter((property) => property.name?.getText() === name)
        .map((property) => (ts.isPropertyAssignment(property) ? property.initializer : property))[0]
    : undefined

/** Several where one literal stands for several routes. */
const operationIdsOf = (checker: ts.TypeChecker, route: ts.Node): string[] => {
  const schema = member(route, 'schema')
  const id = schema && member(schema, 'operationId')
  if (!id) return []
  const type = checker.getTypeAtLocation(ts.isShorthandPropertyAssignment(id) ? id.name : id)
  return (type.isUnion() ? type.types : [type]).flatMap((part) =>
    part.isStringLiteral() ? [part.value] : [],
  )
}
