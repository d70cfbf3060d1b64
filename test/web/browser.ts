/** A real browser: CHROME_PATH, or the Chromium of an npm package that includes the libraries it needs. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { projectRoot } from '../../src/platform/process/root.js'

/** Read-only or shared machines may set another cache folder. */
const cacheFolder = () => process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')

interface Unpacked {
  executablePath: string
  env: Record<string, string>
}

/** Unpacks the package's browser once for all runs. Several processes may do so at the same time. */
const unpack = async (): Promise<Unpacked> => {
  const { devDependencies } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8'))
  const version = devDependencies['@sparticuz/chromium']
  const folder = join(cacheFolder(), 'team-settings', `chromium-${version}`)
  if (!existsSync(folder)) {
    await mkdir(join(folder, '..'), { recursive: true })
    const fresh = await mkdtemp(join(folder, '..', 'unpacking-'))
    const { TMPDIR } = process.env
    // The package unpacks into the temporary folder. It unpacks its libraries only if it believes to run in a cloud function.
    Object.assign(process.env, { TMPDIR: fresh, AWS_LAMBDA_JS_RUNTIME: 'nodejs20.x' })
    try {
      const { default: packed } = await import('@sparticuz/chromium')
      packed.setGraphicsMode = false
      await packed.executablePath()
    } finally {
      delete process.env.AWS_LAMBDA_JS_RUNTIME
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    }
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }))
  }
  const fonts = join(folder, 'fonts')
  await writeFile(
    join(fonts, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${fonts}</dir><cachedir>${join(tmpdir(), 'fonts-cache')}</cachedir></fontconfig>`,
  )
  return {
    executablePath: join(folder, 'chromium'),
    env: { LD_LIBRARY_PATH: join(folder, 'al2023/lib'), FONTCONFIG_PATH: fonts },
  }
}

/** @returns the browser, or the reason why none can run on this machine */
export const startBrowser = async (): Promise<Browser | string> => {
  const { CHROME_PATH } = process.env
  if (!CHROME_PATH && (process.platform !== 'linux' || process.arch !== 'x64')) {
    return `no browser for ${process.platform} ${process.arch}: set CHROME_PATH to an installed Chrome or Chromium`
  }
  const { executablePath, env } = CHROME_PATH ? { executablePath: CHROME_PATH, env: {} } : await unpack()
  return chromium
    .launch({
      executablePath,
      timeout: 120_000,
      env: { ...(process.env as Record<string, string>), ...env },
      // The sandbox needs rights that containers and root lack. Only our own pages are opened.
      args: ['--no-sandbox', '--disable-gpu', '--process-per-site'],
    })
    .catch((error) => `the browser does not start here; set CHROME_PATH to one that does. ${error.message}`)
}
