/** The graph drawn by sigma on WebGL, laid out by a worker. Loaded with the page that shows it. */
import Graph from 'graphology'
import Sigma from 'sigma'
import type { CameraState } from 'sigma/types'
import type { Positions, ToLayOut } from './layout.ts'
import type { Group } from './pages/graph.tsx'

export interface Node {
  id: string
  name: string
  group: Group
  /** It no longer holds. */
  faded: boolean
}

export type Edge = { from: string; to: string; type: string }

export type GraphView = ReturnType<typeof createGraphView>

/** A drawing that takes longer is moved as it is while the hand moves it, and drawn again when the hand rests. */
const SLOW_MS = 60
const REST_MS = 120
/** More than these are drawn smaller. */
const ROOMY = 250
/** So few have room for their names. */
const FEW = 80
const GOLDEN = Math.PI * (3 - Math.sqrt(5))

/** Finds what is under the pointer by itself: reading it back from the graphics card stops the drawing each time. */
class Drawing extends Sigma {
  override createWebGLContext(id: string, options?: Parameters<Sigma['createWebGLContext']>[1]) {
    return super.createWebGLContext(id, { ...options, picking: false })
  }
}

export function createGraphView(place: HTMLElement, choose: (id: string | undefined) => void) {
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
    const drawn = ['decisions', 'rules', 'lessons', 'questions', 'work', 'code', 'documents', 'other', 'line']
    const names = [...drawn.map((name) => `g-${name}`), 'ink', 'soft', 'bad']
    colours = Object.fromEntries(names.map((name) => [name, colour(`--${name}`)]))
  }
  readColours()

  const sigma = new Drawing(graph, place, {
    labelFont: 'system-ui, sans-serif',
    labelSize: 13,
    labelColor: { color: colours.ink! },
    labelRenderedSizeThreshold: 7,
    labelDensity: 0.5,
    labelGridCellSize: 160,
    defaultEdgeColor: colours['g-line'],
    zIndex: true,
    allowInvalidContainer: true,
    nodeReducer: (id, data) => {
      const base = colours[`g-${data.group}`]!
      if (near === undefined) return { ...data, color: data.faded ? colours['g-line'] : base }
      if (id === chosen) return { ...data, color: base, highlighted: true, zIndex: 2 }
      if (reached.has(id)) return { ...data, color: colours.bad, forceLabel: true, zIndex: 2 }
      return near.has(id)
        ? { ...data, color: base, forceLabel: true, zIndex: 1 }
        : { ...data, color: colours['g-line'], label: '' }
    },
    edgeReducer: (edge, data) =>
      near === undefined || graph.extremities(edge).includes(chosen!)
        ? { ...data, color: near === undefined ? colours['g-line'] : colours.soft }
        : { ...data, hidden: true },
    // what is under the pointer is told on the colours of the page
    defaultDrawNodeHover: (context, data, settings) => {
      const label = String(data.label ?? '')
      context.font = `600 ${settings.labelSize}px ${settings.labelFont}`
      context.fillStyle = colour('--sheet')
      context.fillRect(data.x + data.size, data.y - 11, label === '' ? 0 : context.measureText(label).width + 10, 22)
      context.beginPath()
      context.arc(data.x, data.y, data.size + 3, 0, 2 * Math.PI)
      context.strokeStyle = colours.ink!
      context.lineWidth = 2
      context.stroke()
      context.fillStyle = colours.ink!
      context.fillText(label, data.x + data.size + 5, data.y + 4)
    },
  })
  const camera = sigma.getCamera()
  const layers = () => place.querySelectorAll<HTMLCanvasElement>('canvas:not(.sigma-mouse)')
  let drawn = camera.getState()
  let isSlow = false
  let rest = 0
  sigma.on('afterRender', () => {
    const start = performance.now()
    // the second frame from here comes when this one is on the screen
    requestAnimationFrame(() => requestAnimationFrame((now) => void (isSlow = now - start > SLOW_MS)))
    drawn = camera.getState()
    clearTimeout(rest)
    for (const layer of layers()) layer.style.transform = ''
  })
  const draw = sigma.scheduleRender.bind(sigma)
  Object.assign(sigma, {
    // without a graphics card a drawing of thousands takes as long as six frames
    scheduleRender() {
      const now = camera.getState()
      if (!isSlow || now.angle !== drawn.angle) return draw()
      const at = (n: number, cameraState: CameraState) => sigma.framedGraphToViewport({ x: n, y: n }, { cameraState })
      const scale = drawn.ratio / now.ratio
      const [was, is] = [at(0, drawn), at(0, now)]
      const transform = `translate(${is.x - scale * was.x}px, ${is.y - scale * was.y}px) scale(${scale})`
      for (const layer of layers()) layer.style.transform = transform
      clearTimeout(rest)
      rest = window.setTimeout(draw, REST_MS)
      return sigma
    },
    getNodeAtPosition(at: { x: number; y: number }): string | null {
      const [here, aside] = [sigma.viewportToFramedGraph(at), sigma.viewportToFramedGraph({ x: at.x + 1, y: at.y })]
      const pixel = Math.hypot(aside.x - here.x, aside.y - here.y)
      return (
        graph.findNode((id) => {
          const { x, y, size } = sigma.getNodeDisplayData(id)!
          return Math.hypot(x - here.x, y - here.y) <= sigma.scaleSize(size) * pixel
        }) ?? null
      )
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

  let worker: Worker | undefined
  /** Lets the graph find its shape: each step is shown, for those who want no motion the last one alone. */
  const layOut = () => {
    worker?.terminate()
    if (graph.order === 0) {
      place.dataset.settled = ''
      return
    }
    delete place.dataset.settled
    const ids = graph.nodes()
    const numbers = new Map(ids.map((id, i) => [id, i]))
    const running = new Worker(new URL('./layout.ts', import.meta.url), { type: 'module' })
    worker = running
    running.onmessage = ({ data: { at, isLast } }: MessageEvent<Positions>) => {
      if (!isStill || isLast) {
        let i = 0
        graph.updateEachNodeAttributes((_, node) => ({ ...node, x: at[i++]!, y: at[i++]! }), { attributes: ['x', 'y'] })
      }
      if (isLast) place.dataset.settled = ''
      else requestAnimationFrame(() => running.postMessage('more')) // what was drawn is seen first
    }
    const ends = graph.mapEdges((_e, _a, from, to) => [numbers.get(from)!, numbers.get(to)!] as const)
    const nodes = ids.map((id) => graph.getNodeAttributes(id) as ToLayOut['nodes'][number])
    running.postMessage({ nodes: nodes.map(({ x, y, size }) => ({ x, y, size })), ends } satisfies ToLayOut)
  }

  return {
    show(nodes: readonly Node[], edges: readonly Edge[]) {
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
      // the more there are, the smaller is each
      const scale = Math.max(0.3, Math.min(1, Math.sqrt(ROOMY / graph.order)))
      graph.updateEachNodeAttributes((id, node) => ({ ...node, size: scale * (4 + 2 * Math.sqrt(graph.degree(id))) }))
      sigma.setSetting('labelRenderedSizeThreshold', graph.order > FEW ? 8 : 5.5)
      sigma.refresh()
      layOut()
    },
    /** Only its neighbourhood stands out, and what a change of it reaches. */
    focus(id: string | undefined, touched: readonly string[]) {
      chosen = id !== undefined && graph.hasNode(id) ? id : undefined
      near = chosen === undefined ? undefined : new Set([chosen, ...graph.neighbors(chosen)])
      reached = new Set(touched)
      sigma.refresh({ skipIndexation: true })
    },
    close() {
      worker?.terminate()
      clearTimeout(rest)
      dark.removeEventListener('change', onScheme)
      sigma.kill()
    },
  }
}
