/**
 * Bundles the extension and packs it into build/extension.vsix, which the service serves with its own address in it. The same
 * sources give the same bytes.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { strToU8, zipSync } from 'fflate'

const source = dirname(fileURLToPath(import.meta.url))
const output = join(source, '../build')
const { type: _type, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
const { name, version, publisher, displayName, description, icon, engines, main, browser } = manifest
const { repository, bugs, keywords, categories, contributes } = manifest

/** The desktop bundle loads the browser bundle, so that the package contains shared code once. */
const shared = {
  name: 'shared',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/extension\.js$/ }, () => ({ path: './browser.cjs', external: true })),
}
/** With the platform `browser`, esbuild rejects modules of Node.js. */
const bundle = async (entry, platform, plugins = []) => {
  const { outputFiles } = await build({
    absWorkingDir: source,
    entryPoints: [entry],
    bundle: true,
    platform,
    target: 'es2022',
    format: 'cjs',
    external: ['vscode'],
    mainFields: ['module', 'main'],
    minify: true,
    write: false,
    plugins,
  })
  return outputFiles[0].contents
}

const types = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="json" ContentType="application/json"/>
  <Default Extension="cjs" ContentType="application/javascript"/>
  <Default Extension="md" ContentType="text/markdown"/>
  <Default Extension="png" ContentType="image/png"/>
  <Default Extension="vsixmanifest" ContentType="text/xml"/>
  <Override PartName="/extension/LICENSE" ContentType="text/plain"/>
</Types>
`
const vsixManifest = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${displayName}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
    <Tags>${[...keywords, '__web_extension'].join()}</Tags>
    <Categories>${categories.join()}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace,web"/>
      <Property Id="Microsoft.VisualStudio.Services.Links.Source" Value="${repository.url.replace('git+', '')}"/>
      <Property Id="Microsoft.VisualStudio.Services.Links.Support" Value="${bugs.url}"/>
    </Properties>
    <License>extension/LICENSE</License>
    <Icon>extension/${icon}</Icon>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Changelog" Path="extension/CHANGELOG.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/${icon}" Addressable="true"/>
  </Assets>
</PackageManifest>
`
const [desktop, web] = await Promise.all([
  bundle('src/desktop.ts', 'node', [shared]),
  bundle('src/extension.ts', 'browser'),
])
const files = {
  '[Content_Types].xml': strToU8(types),
  'extension.vsixmanifest': strToU8(vsixManifest),
  'extension/package.json': strToU8(`${JSON.stringify(manifest, null, 2)}\n`),
  [`extension/${main.slice(2)}`]: desktop,
  [`extension/${browser.slice(2)}`]: web,
}
const pages = contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.markdown))
for (const file of [icon, 'README.md', 'CHANGELOG.md', 'LICENSE', ...pages])
  files[`extension/${file}`] = readFileSync(join(source, file))
mkdirSync(output, { recursive: true })
// A zip stores the local time of each file, from 1980 on.
writeFileSync(join(output, 'extension.vsix'), zipSync(files, { level: 9, mtime: new Date(1980, 0, 2) }))
