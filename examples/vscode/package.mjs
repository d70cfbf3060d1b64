/** Bundles the extension and puts together what a .vsix holds, in `out/`. */
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const here = dirname(fileURLToPath(import.meta.url))
const out = join(here, 'out')
const extension = join(out, 'extension')
const {
  scripts,
  devDependencies,
  imports,
  private: _,
  ...manifest
} = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'))

await rm(out, { recursive: true, force: true })
await mkdir(extension, { recursive: true })
// `#storage` is another file for browsers. With this platform, esbuild rejects modules of Node.js.
for (const { platform, target, file } of [
  { platform: 'node', target: 'node20', file: manifest.main },
  { platform: 'browser', target: 'es2022', file: manifest.browser },
])
  await build({
    entryPoints: [join(here, 'src/extension.ts')],
    outfile: join(extension, file),
    bundle: true,
    platform,
    format: 'cjs',
    target,
    external: ['vscode'],
    minify: true,
  })
await writeFile(join(extension, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
for (const file of ['README.md', 'LICENSE']) await copyFile(join(here, file), join(extension, file))
await writeFile(
  join(out, '[Content_Types].xml'),
  `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="json" ContentType="application/json"/>
  <Default Extension="cjs" ContentType="application/javascript"/>
  <Default Extension="md" ContentType="text/markdown"/>
  <Default Extension="vsixmanifest" ContentType="text/xml"/>
  <Override PartName="/extension/LICENSE" ContentType="text/plain"/>
</Types>
`,
)
await writeFile(
  join(out, 'extension.vsixmanifest'),
  `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${manifest.name}" Version="${manifest.version}" Publisher="${manifest.publisher}"/>
    <DisplayName>${manifest.displayName}</DisplayName>
    <Description xml:space="preserve">${manifest.description}</Description>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${manifest.engines.vscode}"/>
    </Properties>
    <License>extension/LICENSE</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
  </Assets>
</PackageManifest>
`,
)
