/** The graph drawn by sigma on WebGL, laid out by ForceAtlas2 a step per frame. Loaded with the page that shows it. */
import Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'
import Sigma from 'sigma'
import type { Group } from './pages/graph.tsx'

export interface Node {
  id: string
  name: string
  group: Group
  /** It no longer holds. */
  faded: boolean
}

export interface Edge {
  from: string
  to: string
  type: string
}

export interface GraphView {
  show(nodes: readonly Node[], edges: readonly Edge[]): void
  /** Only its neighbourhood stands out, and what a change of it reaches. */
  focus(id: string | undefined, touched: readonly string[]): void
  savePng(): void
  saveSvg(): void
  close(): void
}

const STEPS = 120
/** Nobody waits longer for a better shape. */
const LAYOUT_MS = 4_000
/** So many are drawn without their links while they move. */
const MANY = 1_000
/** So few have room for their names. */
const FEW = 80
const GOLDEN = Math.PI * (3 - Math.sqrt(5))

export function createGraphView(place: HTMLElement, choose: (id: string | undefined) => void): GraphView {
  const graph = new Graph({ multi: true })
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
  const colour = (name: string): string => {
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    place.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }
  let colours: Readonly<Record<string, string>> = {}
  let near: ReadonlySet<string> | undefined
  let reached: ReadonlySet<string> = new Set()
  let chosen: string | undefined
  const readColours = () => {
    const of = (name: string) => [name, colour(`--g-${name}`)] as const
    const groups = ['decisions', 'rules', 'lessons', 'questions', 'work', 'code', 'other'].map(of)
    colours = {
      ...Object.fromEntries(groups),
      ink: colour('--ink'),
      line: colour('--g-line'),
      soft: colour('--soft'),
      bad: colour('--bad'),
    }
  }
  readColours()

  const sigma = new Sigma(graph, place, {
    labelFont: 'system-ui, sans-serif',
    labelSize: 13,
    labelColor: { color: colours.ink! },
    labelRenderedSizeThreshold: 7,
    labelDensity: 0.5,
    labelGridCellSize: 160,
    defaultEdgeColor: colours.line,
    hideEdgesOnMove: false,
    zIndex: true,
    allowInvalidContainer: true,
    nodeReducer: (id, data) => {
      const base = colours[data.group as string]!
      if (near === undefined) return { ...data, color: data.faded ? colours.line : base }
      if (id === chosen) return { ...data, color: base, highlighted: true, zIndex: 2 }
      if (reached.has(id)) return { ...data, color: colours.bad, forceLabel: true, zIndex: 2 }
      return near.has(id)
        ? { ...data, color: base, forceLabel: true, zIndex: 1 }
        : { ...data, color: colours.line, label: '' }
    },
    edgeReducer: (edge, data) =>
      near === undefined || graph.extremities(edge).includes(chosen!)
        ? { ...data, color: near === undefined ? colours.line : colours.soft }
        : { ...data, hidden: true },
    // what is under the pointer is told on the colours of the page
    defaultDrawNodeHover: (context, data, settings) => {
      const label = String(data.label ?? '')
      context.font = `600 ${settings.labelSize}px ${settings.labelFont}`
      context.fillStyle = colour('--sheet')
      const width = label === '' ? 0 : context.measureText(label).width + 10
      context.fillRect(data.x + data.size, data.y - 11, width, 22)
      context.beginPath()
      context.arc(data.x, data.y, data.size + 3, 0, 2 * Math.PI)
      context.strokeStyle = colours.ink!
      context.lineWidth = 2
      context.stroke()
      context.fillStyle = colours.ink!
      context.fillText(label, data.x + data.size + 5, data.y + 4)
    },
  })
  sigma.on('clickNode', ({ node }) => choose(node))
  sigma.on('clickStage', () => choose(undefined))
  const onScheme = () => {
    readColours()
    sigma.setSetting('labelColor', { color: colours.ink! })
    sigma.refresh()
  }
  dark.addEventListener('change', onScheme)

  let frame = 0
  /** Lets the graph find its shape, a step per frame; at once for those who want no motion. */
  const layOut = () => {
    cancelAnimationFrame(frame)
    if (graph.size === 0) return
    const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 400 }
    const until = performance.now() + LAYOUT_MS
    let left = STEPS
    const step = () => {
      forceAtlas2.assign(graph, { iterations: graph.order > MANY ? 3 : 1, settings })
      return --left > 0 && performance.now() < until
    }
    const next = () => {
      if (step()) frame = requestAnimationFrame(next)
    }
    if (!isStill) return next()
    while (step()) {}
  }

  const save = (name: string, blob: Blob) => {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000)
  }

  return {
    show(nodes, edges) {
      const wanted = new Set(nodes.map((n) => n.id))
      for (const id of graph.nodes()) if (!wanted.has(id)) graph.dropNode(id)
      graph.clearEdges()
      nodes.forEach(({ id, name, group, faded }, i) => {
        const about = { label: name.length > 32 ? `${name.slice(0, 31)}…` : name, group, faded }
        // a sunflower: no two in one place, and the same each time
        if (graph.hasNode(id)) graph.mergeNodeAttributes(id, about)
        else
          graph.addNode(id, {
            ...about,
            x: Math.sqrt(i) * Math.cos(i * GOLDEN),
            y: Math.sqrt(i) * Math.sin(i * GOLDEN),
            size: 4,
          })
      })
      for (const { from, to, type } of edges)
        if (graph.hasNode(from) && graph.hasNode(to)) graph.addEdge(from, to, { kind: type, size: 1 })
      graph.forEachNode((id) => graph.setNodeAttribute(id, 'size', 4 + 2 * Math.sqrt(graph.degree(id))))
      sigma.setSetting('hideEdgesOnMove', graph.order > MANY)
      sigma.setSetting('hideLabelsOnMove', graph.order > MANY)
      sigma.setSetting('labelRenderedSizeThreshold', graph.order > FEW ? 8 : 6.5)
      layOut()
      sigma.refresh()
    },
    focus(id, touched) {
      chosen = id !== undefined && graph.hasNode(id) ? id : undefined
      near = chosen === undefined ? undefined : new Set([chosen, ...graph.neighbors(chosen)])
      reached = new Set(touched)
      sigma.refresh({ skipIndexation: true })
    },
    savePng() {
      sigma.refresh()
      const layers = [...place.querySelectorAll('canvas')]
      const whole = document.createElement('canvas')
      whole.width = layers[0]!.width
      whole.height = layers[0]!.height
      const context = whole.getContext('2d')!
      context.fillStyle = colour('--sheet')
      context.fillRect(0, 0, whole.width, whole.height)
      // the drawing of WebGL is gone with its frame: what is taken is taken in it
      sigma.once('afterRender', () => {
        for (const layer of layers) context.drawImage(layer, 0, 0)
        whole.toBlob((blob) => blob && save('graph.png', blob))
      })
      sigma.scheduleRender()
    },
    saveSvg() {
      const { width, height } = sigma.getDimensions()
      const at = (id: string) => sigma.graphToViewport(graph.getNodeAttributes(id) as { x: number; y: number })
      const text = (s: string) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
      const n = (x: number) => x.toFixed(1)
      const lines = graph.mapEdges((_e, _a, from, to) => {
        const [a, b] = [at(from), at(to)]
        return `<line x1="${n(a.x)}" y1="${n(a.y)}" x2="${n(b.x)}" y2="${n(b.y)}" stroke="${colours.line}"/>`
      })
      const dots = graph.mapNodes((id, { group, label, size }) => {
        const { x, y } = at(id)
        return `<circle cx="${n(x)}" cy="${n(y)}" r="${n(size)}" fill="${colours[group as string]}"/><text x="${n(x + size + 3)}" y="${n(y + 4)}" fill="${colours.ink}">${text(String(label))}</text>`
      })
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">${lines.join('')}${dots.join('')}</svg>`
      save('graph.svg', new Blob([svg], { type: 'image/svg+xml' }))
    },
    close() {
      cancelAnimationFrame(frame)
      dark.removeEventListener('change', onScheme)
      sigma.kill()
    },
  }
}
