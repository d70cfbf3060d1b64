/** Writes the types of the client from the committed document. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { projectRoot } from '../../src/platform/process/root.js'
import { writeTypes } from './types.js'

const document = JSON.parse(await readFile(join(projectRoot, 'openapi/openapi.json'), 'utf8'))
await writeFile(join(projectRoot, 'client/src/api.ts'), writeTypes(document))
