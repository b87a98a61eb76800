import { describe, expect, test } from 'vitest'
import { shapesOf } from '../../src/project/discover/values.ts'
import { parseData } from '../../src/scheme/data.ts'
import { openTestMemory, type TestMemory } from '../helpers.ts'
import { recordExample, recordOneOfEach } from './fixture.ts'

const example = (): TestMemory => {
  const m = openTestMemory()
  recordExample(m)
  return m
}
const isError = (printed: string | undefined) => /^\(error /.test(printed ?? '')

describe('[D3] the knowledge functions', () => {
  test('[D3] search-knowledge puts first what recall would: not what says a word most often', () => {
    const m = example()
    const names = (more = '') => m.discover(`(map :name (search-knowledge "plexus"${more}))`)[0]
    expect(names()).toMatch(/^\("plexus-model-with-decorators" /)
    expect(names(' :limit 1')).toBe('("plexus-model-with-decorators")')
  })

  test('[D3] every expression of the concept paper answers', () => {
    const m = example()
    const ask = (program: string) => m.discover(program)[0]!
    expect(ask('(map :name (get-principles))')).toBe(
      '("contagious-materialization" "relief-driven-development" "wrong-impossible-through-structure")',
    )
    expect(ask('(get-principle "contagious-materialization")')).toBe(
      '(principle "contagious-materialization" "Syncing spreads from root automatically" :confidence 0.95 :locations ["plexus/README.md:28"] :evidence [tested-in-production documented-extensively] :tags [plexus sync])',
    )
    expect(ask('(map :name (search-knowledge "plexus"))')).toContain('"plexus-model-with-decorators"')
    expect(ask('(map :name (filter (lambda (p) (> (@ p :confidence) 0.8)) (get-principles)))')).toBe(
      '("contagious-materialization" "wrong-impossible-through-structure")',
    )
    expect(ask('(map :name (get-patterns-by-type "plexus-model"))')).toBe('("plexus-model-with-decorators")')
    expect(ask('(get-relationships-from "contagious-materialization")')).toBe(
      '((relationship :from contagious-materialization :to world-state-tree :type implements :description "Root materialization triggers child sync"))',
    )
    expect(ask('(get-relationships-to "world-state-tree")')).toContain(':from contagious-materialization')
    expect(ask('(@ (get-file-understanding "plexus/src/PlexusModel.ts") :summary)')).toBe(
      '"Base class for all Plexus entities"',
    )
    expect(ask('(get-related-files "plexus/src/PlexusModel.ts")')).toBe(
      '("plexus/src/Plexus.ts" "plexus/src/tracking.ts")',
    )
    expect(ask('(get-related-files "./plexus/src/Plexus.ts")')).toBe('("plexus/src/PlexusModel.ts")')
    expect(ask('(map :name (get-decisions-by-status "active"))')).toBe('("use-stage3-decorators")')
    expect(ask('(map :name (get-decisions-by-status "superseded"))')).toBe('("use-legacy-decorators")')
    expect(ask('(map :name (filter (lambda (pat) (> (@ pat :confidence) 0.9)) (get-patterns)))')).toBe(
      '("plexus-model-with-decorators")',
    )
    expect(ask('(@ (get-decision "use-stage3-decorators") :rationale)')).toBe(
      '"Native browser support, type-safe, automatic tracking"',
    )
  })

  test('[D3] every kind has a list, one by its name, nil for none, and an alias with a plain s', () => {
    const m = openTestMemory()
    recordOneOfEach(m)
    for (const kind of m.memory.registry().kinds()) {
      if (kind.internal) continue
      const { name } = m.memory.reader.list(kind.name).at(-1)!
      const [list, alias, one, none] = m.discover(
        `(get-${kind.plural}) (get-${kind.name}s) (get-${kind.name} ${JSON.stringify(name)}) (get-${kind.name} "no such thing")`,
      )
      expect(list, kind.name).toMatch(new RegExp(`^\\(+${kind.name}`))
      expect(alias, kind.name).toBe(list)
      expect(one, kind.name).toMatch(new RegExp(`^\\(${kind.name} `))
      expect(none, kind.name).toBe('nil')
    }
  })

  test('[D3] an empty memory answers everything', () => {
    const m = openTestMemory()
    expect(
      m.discover(
        '(get-principles) (get-principle "x") (search-knowledge "x") (get-related-files "x") (get-file-understanding "x") (conflicts) (get-proposals) (get "x") (schema-candidates) (search-knowledge "")',
      ),
    ).toEqual(['()', 'nil', '()', '()', 'nil', '()', '()', 'nil', '()', '()'])
  })

  test('[D3] a reference may be a symbol, an entity, an id or kind:name; an ambiguous one is an error with the candidates', () => {
    const m = example()
    m.act([['record-pattern', { name: 'contagious-materialization' }]])
    expect(
      m.discover(
        '(:confidence (get-principle \'contagious-materialization)) (:name (get "pattern:contagious-materialization")) (length (get-relationships-from (get-principle "contagious-materialization")))',
      ),
    ).toEqual(['0.95', '"contagious-materialization"', '1'])
    const [ambiguous] = m.discover('(get "contagious-materialization")')
    expect(ambiguous).toMatch(/^\(error "get: .* means several things" :hint "say which: principle:.* or pattern:/)
    m.act([
      ['record-principle', { name: 'other' }],
      ['rename', { ref: 'other', name: 'renamed' }],
      ['record-pattern', { name: 'other' }],
    ])
    expect(m.discover('(:name (get-principle "other"))')).toEqual(['"renamed"'])
  })

  test('[D3] wrong arguments are errors that say what is expected', () => {
    const m = example()
    for (const [program, says] of [
      ['(get-principle)', 'get-principle'],
      ['(get-principle 5)', 'a text is expected'],
      ['(get-principles :limt 3)', 'no option :limt'],
      ['(get-principles :limit "3")', ':limit is a whole number'],
      ['(get-principles :limit -1)', ':limit is a whole number'],
      ['(get-principles :limit)', 'a value is missing after :limit'],
      ['(get-principles :since "soon")', 'is not a time'],
      ['(get-principles :since "2026-02-30")', 'is not a time'],
      ['(get-principles :standing "agreed")', 'one of proposed, confirmed, rejected'],
      ['(get-decisions-by-status "wrong")', 'there is no status \\"wrong\\"" :hint "one of active, '],
      ['(get-decisions-by-status "actve")', 'did you mean active?'],
      ['(search-knowledge "x" :kind "decison")', 'did you mean decision?'],
      ['(get-relationships-from "nothing-of-the-sort")', 'nothing is called \\"nothing-of-the-sort\\"'],
      ['(get-relationships-to "world-state-tre")', 'did you mean \\"world-state-tree\\"?'],
      ['(get-relationships-to "world-state-tree" :type "implement")', 'did you mean implements?'],
      ['(search-knowledge 5)', 'a text is expected'],
      ['(get-relationships-from "x" :kind "y")', 'no option :kind'],
      ['(get-principels)', 'get-principles'],
    ] as const) {
      const [printed] = m.discover(program)
      expect(isError(printed), program).toBe(true)
      expect(printed, program).toContain(says)
    }
  })
})

describe('[D1] [D4] values', () => {
  test('[D1] one value per form; an error stands in its place and earlier forms stand', () => {
    const m = example()
    const printed = m.discover('(+ 1 1) (+ 2 2) (no-such)')
    expect(printed.slice(0, 2)).toEqual(['2', '4'])
    expect(printed[2]).toMatch(/^\(error .*no-such/)
  })

  test('[D4] accessors on real entities: names, truth, values, missing fields', () => {
    const m = example()
    m.act([
      ['define-kind', { name: 'flagged', fields: { name: 'text', active: 'flag' } }],
      ['record-flagged', { name: 'on', active: true }],
      ['record-flagged', { name: 'off', active: false }],
      ['record-flagged', { name: 'unsaid' }],
    ])
    expect(
      m.discover(`(map :name (filter :active (get-flaggeds)))
        (define p (get-principle "contagious-materialization"))
        (@ p :confidence) (@ p "confidence") (:missing p) (> (@ p :nope) 1) (< (@ p :nope) 1) (= (:nope p) (:nada p))
        (@ nil :name) (:kind p) (:id p) (:version p) (:recorded p) (:session p) (@ p :constructor) (@ p "__proto__")`),
    ).toEqual([
      '("on")', 'p', '0.95', '0.95', 'nil', '#f', '#f', '#f', 'nil', '"principle"', '"principle:contagious-materialization"', '1', '"2026-11-02T09:00:00.000Z"', '"example"', 'nil', 'nil',
    ]) // biome-ignore format: read across
  })
})

describe('[D11] lists and links', () => {
  test('[D11] lists are newest first and take :limit, :since, :topic, :standing and :all', () => {
    const m = example()
    const names = (options: string) => m.discover(`(map :name (get-principles ${options}))`)[0]
    expect(names(':limit 1')).toBe('("contagious-materialization")')
    expect(names(':limit 0')).toBe('()')
    expect(names(':since "2026-11-02"')).toBe('("contagious-materialization")')
    expect(names(':since "2026-11-02T09:00:01Z"')).toBe('()')
    expect(names(':topic "Process"')).toBe('("relief-driven-development")')
    expect(names(':topic "none"')).toBe('()')
    m.act([
      ['retire', { ref: 'relief-driven-development', reason: 'x' }],
      ['propose', { action: ['record-principle', { name: 'new-one' }] }],
    ])
    expect(names(':limit 1 :all #t')).toBe('("new-one")')
    expect(names(':all #t :topic "process"')).toBe('("relief-driven-development")')
    expect(names(':standing "proposed"')).toBe('("new-one")')
    expect(
      m.discover(
        '(map :name (get-decisions-by-status "active" :limit 1)) (length (search-knowledge "plexus" :limit 2)) (map :kind (search-knowledge "plexus" :kind "pattern"))',
      ),
    ).toEqual([
      '("use-stage3-decorators")',
      '2',
      '("pattern")', // biome-ignore format: read across
    ])
  })

  test('[D11] nil, () and #f are three values; nil and #f alone are false', () => {
    const m = openTestMemory()
    expect(
      m.discover(
        '(list nil (list) #f) (if nil 1 2) (if (list) 1 2) (if #f 1 2) (if 0 1 2) (null? nil) (null? (list)) (eq? nil #f)',
      ),
    ).toEqual([
      '(nil () #f)',
      '2',
      '1',
      '2',
      '1',
      '#f',
      '#t',
      '#f', // biome-ignore format: read across
    ])
  })

  test('[D11] a link prints as a relationship, its ends as references that mean one thing', () => {
    const m = openTestMemory()
    m.act([
      ['record-principle', { name: 'same' }], ['record-pattern', { name: 'same' }], ['record-fact', { fact: `a long fact ${'word '.repeat(30)}` }], ['record-observation', { what: 'seen' }],
    ]) // biome-ignore format: short
    const [fact, observation] = [m.memory.reader.list('fact')[0]!, m.memory.reader.list('observation')[0]!]
    m.act([
      ['link-entities', { from: 'principle:same', to: 'pattern:same', type: 'uses', confidence: 0.5 }],
      ['link-entities', { from: 'principle:same', to: fact.id, type: 'cites' }],
      ['link-entities', { from: 'principle:same', to: observation.id, type: 'about' }],
    ])
    const ends = m.discover(
      '(map :to (get-relationships-from "principle:same")) (map :from-id (get-relationships-from "principle:same"))',
    )
    expect(ends).toEqual([
      `("seen" "${fact.id}" "pattern:same")`,
      '("principle:same" "principle:same" "principle:same")',
    ])
    expect(m.discover('(get-relationships-from "principle:same" :type "uses")')).toEqual([
      '((relationship :from "principle:same" :to "pattern:same" :type uses :confidence 0.5))',
    ])
  })
})

describe('[D2] [D11] definitions', () => {
  test('[D2] they end with the call without a session, persist in it, and are unknown in another', () => {
    const m = openTestMemory()
    const at = (session?: string) => (program: string) => m.discover(program, session === undefined ? {} : { session })
    expect(at()('(define n 5) n')).toEqual(['n', '5'])
    expect(isError(at()('n')[0])).toBe(true)
    at('one')('(define n 5)')
    expect(at('one')('n')).toEqual(['5'])
    expect(isError(at('two')('n')[0])).toBe(true)
    expect(at('one')('(define n 6) n')).toEqual(['n', '6'])
    expect(at('one')('n')).toEqual(['6'])
  })

  test('[D11] data is kept as its value, a procedure as its source, and a query inside a define runs once', () => {
    const m = example()
    const s = { session: 's' }
    m.discover(
      '(define known (map :name (get-decisions))) (define ask (lambda () (map :name (get-decisions)))) (define p (get-principle "contagious-materialization")) (define (double x) (* 2 x)) (define quad (lambda (x) (double (double x))))',
      s,
    )
    m.act([['record-decision', { name: 'later' }]])
    expect(m.discover('(length known) (length (ask)) (quad 4) (@ p :confidence) (get-relationships-from p)', s)).toEqual([
      '2', '3', '16', '0.95',
      '((relationship :from contagious-materialization :to world-state-tree :type implements :description "Root materialization triggers child sync"))',
    ]) // biome-ignore format: read across
  })

  test('[D11] a define that fails is not kept, those before it are', () => {
    const m = openTestMemory()
    m.discover('(define a 1) (define b (car 5)) (define c 3)', { session: 's' })
    const [a, b, c] = m.discover('a b c', { session: 's' })
    expect([a, isError(b), c]).toEqual(['1', true, '3'])
  })

  test('[D11] a procedure made from an earlier value of its own name is refused, and the earlier one stays', () => {
    const m = openTestMemory()
    const at = (program: string) => m.discover(program, { session: 's' })
    at('(define (f x) (* 2 x))')
    const refused = expect.stringContaining('is not kept')
    expect(at('(define f (let ((g f)) (lambda (x) (g (g x)))))')).toEqual([refused])
    expect(at('(set! f (lambda (x) 0)) (f 4)')).toEqual([refused, '8'])
    expect(at('(define (again) (set! f +)) (again) (f 4)')).toEqual(['again', refused, '8'])
    expect(at('(f 4)')).toEqual(['8'])
    at('(define g f) (define f g)')
    expect(at('(f 4)')).toEqual([expect.stringContaining('f was made from an earlier f, which is not kept')])
    expect(m.discover('(define (f x) 1) (define f (let ((g f)) (lambda (x) (+ 1 (g x))))) (f 0)').at(-1)).toBe('2')
  })

  test('[D11] a definition may call itself, use its earlier data, or what Scheme calls so', () => {
    const m = openTestMemory()
    const at = (program: string) => m.discover(program, { session: 's' })
    at('(define n 1) (define (f x) (if (= x 0) n (f (- x 1))))')
    at('(define n (+ n 1)) (define (f x) (if (= x 0) (* 10 n) (f (- x 1))))')
    at('(define car (let ((old car)) (lambda (x) (list (old x)))))')
    at('(begin (define g 1) (set! g (lambda () 7)))')
    expect(at("n (f 3) (car '(1)) (g)")).toEqual(['2', '20', '(1)', '7'])
  })

  test('[D1] a special form is not defined anew', () => {
    const m = openTestMemory()
    const printed = m.discover('(define (when x) x) (define as-of 1) (when #t 5) (let () (define (when x) x) (when 6))')
    expect(printed).toEqual([
      expect.stringContaining('when is a special form and cannot be defined'),
      expect.stringContaining('as-of is a special form'),
      '5',
      '6',
    ])
  })

  test('[D11] [T11] a definition that is too large, or one too many for a session, is not kept', () => {
    const m = openTestMemory()
    const s = { session: 's' }
    const [large] = m.discover('(define large (make-string 1000001 #\\x))', s)
    expect(large).toContain('one definition has at most 1000000 characters, a session 8000000')
    const define = (from: number) =>
      m.discover(Array.from({ length: 5 }, (_, i) => `(define v${from + i} (make-string 900000 #\\x))`).join(' '), s)
    expect(define(0)).toEqual(['v0', 'v1', 'v2', 'v3', 'v4'])
    expect(define(5).map((said) => said.slice(0, 6))).toEqual(['v5', 'v6', 'v7', '(error', '(error'])
    expect(m.discover('(string-length v7) v8', s)[0]).toBe('900000')
  })
  test('[D11] a session keeps 512 definitions; one more is an error that says so', () => {
    const m = openTestMemory()
    const s = { session: 's' }
    const defines = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => `(define v${from + i} ${i})`).join(' ')
    m.discover(defines(0, 300), s)
    const printed = m.discover(defines(300, 513), s)
    expect(printed.slice(0, -1).some(isError)).toBe(false)
    expect(printed.at(-1)).toContain('a session keeps at most 512 definitions')
    expect(printed.at(-1)).toContain('start a fresh session')
    expect(m.discover('(define v0 "again") v0', s)).toEqual(['v0', '"again"'])
    expect(m.discover('(define v513 1)', { session: 'other' })).toEqual(['v513'])
  })
})

describe('[D6] no way out', () => {
  test('[D6] nothing a program does changes the store or what a query gives', () => {
    const m = example()
    const before = m.rows()
    const hostile = `
      (define p (get-principle "contagious-materialization"))
      (:constructor p) (@ p "__proto__") (@ p "constructor") (@ (@ p "constructor") "prototype")
      (@ (list 1) "map") (@ "text" "length") (string->symbol "__proto__") process (eval '(+ 1 1)) (load "x") (fetch "http://x") (require "fs")
      (set! p 5) (define get-principles (lambda () 7)) (get-principles) (set! car cdr)
      (vector-set! (list->vector (get-decisions)) 0 "gone") (set-car! (get-decisions) "gone") (set-cdr! (get-decisions) '())
      (string-set! (@ (get-decision "use-stage3-decorators") :description) 0 #\\X) (@set! p :name "x") (define car 5) (delete-file "x") (exit) (act '()) (record-principle "x")
      (call-as-of "2026-11-02" 5) (call-as-of "2026-11-02" (lambda (x) x)) (as-of) (help) (let loop () (loop))`
    const printed = m.discover(hostile)
    expect(printed).toHaveLength(m.discover(hostile).length)
    expect(m.rows() === before).toBe(true)
    expect(m.discover('(length (get-principles)) (@ (get-decision "use-stage3-decorators") :description)')).toEqual([
      '3',
      '"Use Stage 3 TC39 decorators for Plexus tracking"', // biome-ignore format: read across
    ])
    expect(Object.keys(Object.prototype)).toEqual([])
  }, 60_000)
})

describe('[D9] as of a moment', () => {
  test('[D9] an expression is evaluated against that moment, nested and around', () => {
    const m = example()
    const names = '(map :name (get-principles))'
    expect(
      m.discover(`(as-of "2026-11-01" ${names}) (as-of "2026-11-01T08:00:00Z" ${names}) ${names}
        (as-of "2026-11-01" (list (length (get-principles)) (as-of "2026-11-02" (length (get-principles))) (length (get-principles))))
        (as-of "2026-11-02" (@ (get-decision "use-stage3-decorators") :status) (get-related-files "plexus/src/PlexusModel.ts"))
        (as-of "2026-11-02" (map :name (get-decisions))) (length (get-decisions))`),
    ).toEqual([
      '("relief-driven-development" "wrong-impossible-through-structure")',
      '()',
      '("contagious-materialization" "relief-driven-development" "wrong-impossible-through-structure")',
      '(2 3 2)',
      '("plexus/src/Plexus.ts")',
      '("use-stage3-decorators" "use-legacy-decorators")',
      '2',
    ])
    expect(m.discover(names, { asOf: '2026-11-01' })).toEqual([
      '("relief-driven-development" "wrong-impossible-through-structure")',
    ])
  })

  test('[D9] everything answers as of then: search, links, status, what was deleted, renamed and cleared since', () => {
    const m = example()
    const then = new Date(m.clock.now).toISOString()
    const program =
      '(map :name (get-decisions)) (get-relationships-from "contagious-materialization") (@ (get-decision "use-legacy-decorators") :status) (map :name (search-knowledge "emancipation")) (map :name (get-facts)) (get-principle "contagious-materialization")'
    const was = m.discover(program)
    m.clock.days(1)
    m.act([
      ['delete-fact', { fact: 'Run the type checker before committing' }],
      ['unlink-entities', { from: 'use-stage3-decorators', to: 'use-legacy-decorators', type: 'supersedes' }],
      ['rename', { ref: 'use-stage3-decorators', name: 'decorators' }],
      ['record-principle', { name: 'contagious-materialization', evidence: null, confidence: null }],
      ['retire', { ref: 'Does emancipation survive a reload?', reason: 'moot' }],
    ])
    expect(m.discover(program)).not.toEqual(was)
    expect(m.discover(program, { asOf: then })).toEqual(was)
  })

  test('[D9] moments are said in words as well: as-of takes the end of what is said, :since the beginning', () => {
    const m = openTestMemory({ now: Date.parse('2026-07-31T12:00:00Z') })
    const at = (moment: string, name: string) => {
      m.clock.now = Date.parse(moment)
      m.act([['record-principle', { name }]])
    }
    at('2026-07-31T12:00:00Z', 'july')
    at('2026-08-30T12:00:00Z', 'august')
    at('2026-11-29T12:00:00Z', 'sunday')
    m.clock.now = Date.parse('2026-11-30T12:30:00Z')
    const names = (program: string) => m.discover(program)[0]
    expect(names('(as-of "3 months ago" (map :name (get-principles)))')).toBe('("august" "july")')
    expect(names('(as-of "4 months ago" (map :name (get-principles)))')).toBe('()')
    expect(names('(as-of "2026-08" (map :name (get-principles)))')).toBe('("august" "july")')
    expect(names('(as-of "yesterday" (length (get-principles)))')).toBe('3')
    expect(names('(as-of "24 hours ago" (length (get-principles)))')).toBe('3')
    expect(names('(as-of "25 hours ago" (length (get-principles)))')).toBe('2')
    expect(names('(map :name (get-principles :since "yesterday"))')).toBe('("sunday")')
    expect(names('(length (get-principles :since "3 months ago"))')).toBe('2')
    expect(m.discover('(length (get-principles))', { asOf: 'August' })).toEqual(['2'])
    expect(names('(get-principles :since "5 minutes ago")')).toBe('()')
  })

  test('[D9] a moment that is none is an error, and does not stick', () => {
    const m = example()
    const printed = m.discover(
      '(as-of "soon" (get-principles)) (as-of "2026-11-01") (as-of "2026-11-01" (car 5)) (length (get-principles))',
    )
    expect(printed.slice(0, 3).every(isError)).toBe(true)
    expect(printed[0]).toContain('is not a time')
    expect(printed[3]).toBe('3')
  })

  test('[D5] [D9] a loop of as-of ends with the budget', () => {
    const m = example()
    const started = performance.now()
    const [printed] = m.discover('(let loop () (as-of "2026-11-01" (get-principles)) (loop))', { budget: { ms: 300 } })
    expect(printed).toContain('execution budget exceeded')
    expect(performance.now() - started).toBeLessThan(3000)
  })
})

describe('[D7] [S4] long results', () => {
  test('[D7] 10,000 entities are cut with a marker that says how many, and what is printed still parses', {
    tags: ['long'],
  }, () => {
    const m = openTestMemory()
    for (let i = 0; i < 200; i++)
      m.act(
        Array.from({ length: 50 }, (_, j) => [
          'record-learning',
          { title: `lesson ${i * 50 + j}`, body: 'a body of some length', severity: 'low' },
        ]),
      )
    const [all, both, count] = m.discover(
      '(get-learnings) (list (get-learnings) (get-learnings)) (length (get-learnings))',
    )
    expect(count).toBe('10000')
    const shapes = shapesOf(m.memory.registry())
    for (const printed of [all!, both!]) {
      expect(printed.length).toBeLessThan(40_000)
      expect(printed).toMatch(/#\| .*[0-9,]+.* more.*\|#/)
      expect(() => parseData(printed, shapes)).not.toThrow()
    }
    const started = performance.now()
    expect(m.discover('(let loop () (as-of "2027-01-01" 1) (loop))', { budget: { ms: 300 } })[0]).toContain('budget')
    expect(m.discover('(let loop () (search-knowledge "lesson") (loop))', { budget: { ms: 300 } })[0]).toContain(
      'budget',
    )
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(all!.length + both!.length + count!.length).toBeLessThan(41_000)
  })
})

test('[D5] [T11] a long list is counted and filtered in less memory than all of it takes; what is kept of it is paid for', {
  tags: ['long'],
}, () => {
  const m = openTestMemory()
  const COUNT = 1_000
  for (let from = 0; from < COUNT; from += 50)
    m.act(
      Array.from({ length: 50 }, (_, n) => [
        'record-fact',
        { fact: `Rule ${from + n}: ${'as it is '.repeat(100)}`, category: n % 2 === 0 ? 'workflow' : 'tool' },
      ]),
    )
  const ask = (program: string, cells: number) => m.discover(program, { budget: { cells } })[0]!
  expect(ask('(length (get-facts))', 5 * COUNT)).toBe(String(COUNT))
  expect(ask('(:category (last (get-facts)))', 5 * COUNT)).toMatch(/workflow|tool/)
  expect(ask('(length (filter (lambda (f) (equal? (@ f :category) "tool")) (get-facts)))', 60 * COUNT)).toBe('500')
  // all texts at once are 900 kB: at least 11,000 cells
  expect(ask('(length (map :fact (get-facts)))', 11 * COUNT)).toMatch(/^\(error "execution budget exceeded/)
  // sorted, it is read in another order than it lies
  expect(ask('(:fact (first (sort-by :updated (get-facts))))', 200 * COUNT)).toContain('Rule ')
  expect(ask('(get-facts)', 5 * COUNT)).toMatch(/^\(facts \[:fact :category\]\n\["Rule /)
})
