/** Bars over days, drawn by uPlot, which is loaded when the first chart is shown. */
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'

interface Series {
  name: string
  /** A colour of the style sheet. */
  color: string
  values: readonly number[]
}

const DAY_S = 86_400
const HEIGHT = 160

/** `isSum`: the values are sums up to each day, drawn as lines; else each day has its bars, one on the other. */
export function Bars(props: { label: string; from: number; series: readonly Series[]; isSum?: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  const { label, from, series, isSum = false } = props
  const key = JSON.stringify([from, series])
  useEffect(() => {
    let plot: uPlot | undefined
    let isGone = false
    const draw = async () => {
      const [{ default: Plot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')])
      const div = place.current
      if (isGone || !div) return
      plot?.destroy()
      const style = getComputedStyle(document.documentElement)
      const probe = document.createElement('span')
      div.append(probe)
      const colour = (name: string) => {
        probe.style.color = style.getPropertyValue(name)
        return getComputedStyle(probe).color
      }
      const days = series[0]!.values.map((_, i) => Math.floor(from / 1000) + i * DAY_S)
      // each series stands on the one before
      const sums = isSum
        ? series.map((s) => [...s.values])
        : series.map((_, s) => days.map((_d, i) => series.slice(s).reduce((n, x) => n + x.values[i]!, 0) || null))
      const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
      const bars = isSum ? Plot.paths.stepped!({ align: 1 }) : Plot.paths.bars!({ size: [0.7, 24] })
      const colours = series.map((s) => colour(s.color))
      probe.remove()
      plot = new Plot(
        {
          width: div.clientWidth,
          height: HEIGHT,
          legend: { show: false },
          cursor: { show: false },
          scales: {
            x: { time: true, range: (_u, min, max) => [min - DAY_S, max + DAY_S] },
            y: { range: (_u, _min, max) => [0, Math.max(3, max)] },
          },
          axes: [
            { ...axis, grid: { show: false } },
            { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000] },
          ],
          series: [
            {},
            ...series.map((s, i) => ({
              label: s.name,
              ...(isSum ? { width: 2 } : { fill: colours[i]! }),
              stroke: colours[i]!,
              paths: bars,
              points: { show: false },
            })),
          ],
        },
        [days, ...sums],
        div,
      )
    }
    void draw()
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const watch = new ResizeObserver(
      () => place.current && plot?.setSize({ width: place.current.clientWidth, height: HEIGHT }),
    )
    watch.observe(place.current!)
    dark.addEventListener('change', draw)
    return () => {
      isGone = true
      plot?.destroy()
      watch.disconnect()
      dark.removeEventListener('change', draw)
    }
  }, [key])
  return (
    <figure class="chart">
      <figcaption class="muted">
        {series.map((s) => (
          <span key={s.name}>
            <span class="swatch" style={{ background: `var(${s.color})` }} /> {s.name}{' '}
            {isSum ? (s.values.at(-1) ?? 0).toFixed(1) : s.values.reduce((a, b) => a + b, 0)}
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={label} />
    </figure>
  )
}
