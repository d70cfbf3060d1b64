/** Packs what is built into NAME-VERSION.vsix, which editors install. */
import { readFile, writeFile } from 'node:fs/promises'
import { zipSync } from 'fflate'

const {
  scripts,
  devDependencies,
  imports,
  private: _,
  ...manifest
} = JSON.parse(await readFile('package.json', 'utf8'))
const { name, version, publisher, displayName, description, icon, engines, main, browser } = manifest

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text) => text.replace(/[&<>"]/g, (character) => ESCAPES[character])
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
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
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
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/${icon}" Addressable="true"/>
  </Assets>
</PackageManifest>
`
const files = {
  '[Content_Types].xml': Buffer.from(types),
  'extension.vsixmanifest': Buffer.from(vsixManifest),
  'extension/package.json': Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`),
}
for (const file of [main, browser, icon, 'README.md', 'LICENSE'])
  files[`extension/${file.replace('./', '')}`] = await readFile(file)
const vsix = `${name}-${version}.vsix`
await writeFile(vsix, zipSync(files))
process.stdout.write(`${vsix}\n`)
