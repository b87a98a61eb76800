const ABOUT: Readonly<Record<string, string>> = {
  tidemark_hub_updates_pushed_total: 'Updates taken from clients.',
  tidemark_hub_updates_sent_total: 'Updates sent to clients.',
  tidemark_hub_refused_total: 'Updates that were not taken.',
  tidemark_hub_denied_total: 'Requests without a token that holds for what they asked.',
  tidemark_hub_failed_total: 'Failures inside the hub.',
  tidemark_hub_connections: 'Clients that are connected.',
  tidemark_hub_projects: 'Projects with a client that is connected.',
  tidemark_hub_memory_bytes: 'Memory of the process.',
}

/** Counts, as Prometheus reads them. */
export class Metrics {
  readonly #values = new Map<string, number>(Object.keys(ABOUT).map((name) => [name, 0]))

  add(name: string, n = 1): void {
    this.set(name, (this.#values.get(name) ?? 0) + n)
  }

  set(name: string, n: number): void {
    this.#values.set(name, n)
  }

  print(): string {
    return [...this.#values]
      .flatMap(([name, value]) => [
        `# HELP ${name} ${ABOUT[name]}`,
        `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}`,
        `${name} ${value}`,
      ])
      .concat('')
      .join('\n')
  }
}
