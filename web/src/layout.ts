/** Finds the shape of a graph with ForceAtlas2, apart from the page, which stays quick meanwhile. */
import Graph from 'graphology'
import forceAtlas2 from 'graphology-layout-forceatlas2'

export interface ToLayOut {
  nodes: readonly { x: number; y: number; size: number }[]
  /** The numbers of the nodes that each edge joins. */
  ends: readonly (readonly [number, number])[]
}

export interface Positions {
  /** x and y of each node in turn. */
  at: Float32Array
  isLast: boolean
}

/** Between two pictures. */
const STEP_MS = 100
/** Nobody waits longer for a better shape. */
const ALL_MS = 4_000
const MOST_STEPS = 400

const graph = new Graph({ multi: true })
let settings: ReturnType<typeof forceAtlas2.inferSettings>
let spent = 0
let steps = 0

function step(): void {
  const start = performance.now()
  while (steps < MOST_STEPS && performance.now() - start < STEP_MS) {
    forceAtlas2.assign(graph, { iterations: 1, settings })
    steps++
  }
  spent += performance.now() - start
  const at = Float32Array.from(
    graph.nodes().flatMap((n) => [graph.getNodeAttribute(n, 'x'), graph.getNodeAttribute(n, 'y')]),
  )
  postMessage({ at, isLast: steps >= MOST_STEPS || spent >= ALL_MS } satisfies Positions)
}

addEventListener('message', ({ data }: MessageEvent<ToLayOut | 'more'>) => {
  if (data !== 'more') {
    for (const [i, node] of data.nodes.entries()) graph.addNode(String(i), node)
    for (const [from, to] of data.ends) graph.addEdge(String(from), String(to))
    settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: graph.order > 400 }
  }
  step()
})
