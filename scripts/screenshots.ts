// Writes the pages of the dashboard, with what is known of this repository, into docs/images/ as small PNGs: those that the docs
// show, or with --all each in light and dark.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { serve } from '../src/surfaces/http/serve.ts'
import { executablePath, PAGES } from '../test/dashboard/browser-path.ts'
import { ownKnowledge } from './own-knowledge.ts'

const images = join(import.meta.dirname, '../docs/images')
const dir = mkdtempSync(join(tmpdir(), 'tidemark-shots-'))
const root = join(tmpdir(), 'tidemark') // its name is seen on a page
if (existsSync(root)) throw new Error(`${root} is in the way`)
process.on('exit', () => rmSync(root, { recursive: true, force: true }))
mkdirSync(images, { recursive: true })
process.env.TIDEMARK_STATE = join(dir, 'state')
const shown = await ownKnowledge(root)
/** The same picture with at most 256 colours, which takes a third of the bytes. The browser decodes it. */
async function withPalette(png: Buffer): Promise<Buffer> {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const encoded = await decoder.evaluate(`(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob())
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d')
    context.drawImage(image, 0, 0)
    const bytes = context.getImageData(0, 0, image.width, image.height).data
    let text = ''
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
    return btoa(text)
  })()`)
  const pixels = Buffer.from(encoded as string, 'base64')
  const of = (i: number) => (pixels[i * 4]! << 16) | (pixels[i * 4 + 1]! << 8) | pixels[i * 4 + 2]!
  const counts = new Map<number, number>()
  for (let i = 0; i < width * height; i++) counts.set(of(i), (counts.get(of(i)) ?? 0) + 1)
  const far = (a: number, b: number) =>
    [16, 8, 0].reduce((sum, s) => sum + (((a >> s) & 255) - ((b >> s) & 255)) ** 2, 0)
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).map(([c]) => c)
  // the most frequent, then those that nothing in the palette comes near: a small dot keeps its colour
  const palette = ranked.slice(0, 128)
  for (const c of ranked) if (palette.length < 256 && palette.every((p) => far(c, p) > 300)) palette.push(c)
  const near = (c: number) => palette.reduce((best, p, i) => (far(c, p) < far(c, palette[best]!) ? i : best), 0)
  const index = new Map([...counts.keys()].map((c) => [c, near(c)]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = index.get(of(y * width + x))!
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    size.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([size, body, sum])
  }
  const head = Buffer.from(png.subarray(16, 29))
  head[9] = 3 // its pixels are places in the palette
  const colours = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]))
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', head),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** What the README and docs/dashboard.md show. */
const SHOWN = ['now-light', 'evolution-light', 'graph-dark']
const isWanted = (picture: string) => process.argv.includes('--all') || SHOWN.includes(picture)

/** Pages that say the most further down. */
const TALL: Readonly<Record<string, number>> = { Evolution: 1140 }
const serving = await serve({ project: root, isPersons: true, log: () => {} })
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
const decoder = await browser.newPage()
try {
  const context = await browser.newContext({ viewport: { width: 1200, height: 760 }, reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(serving.link!())
  const pages = PAGES.filter(([p]) => !/q=|graph\?/.test(p)).map(([path, title]) =>
    path.startsWith('/entity') ? [`/entity?id=${encodeURIComponent(shown)}`, shown.split(':')[1]!] : [path, title],
  )
  for (const [path = '', title = ''] of pages) {
    const name = path
      .slice(1)
      .split('?')
      .map((part, i) => (i === 0 ? part || 'now' : part.split('=')[0]))
      .join('-')
    for (const colorScheme of ['light', 'dark'] as const) {
      if (!isWanted(`${name}-${colorScheme}`)) continue
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 1200, height: TALL[title] ?? 760 })
      await page.goto(new URL(path, serving.url).href)
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      while ((await page.locator('.waiting').count()) > 0) await page.waitForTimeout(50)
      if (name === 'graph') await page.locator('.canvas[data-settled]').waitFor({ timeout: 60_000 })
      await page.waitForTimeout(400) // a chart and the graph are drawn after what they show is there
      const small = await withPalette(await page.screenshot())
      writeFileSync(join(images, `${name}-${colorScheme}.png`), small)
      console.log(`${name}-${colorScheme}.png ${Math.round(small.length / 1000)} kB`)
    }
  }
} finally {
  await browser.close()
  await serving.close()
  rmSync(dir, { recursive: true, force: true })
}
