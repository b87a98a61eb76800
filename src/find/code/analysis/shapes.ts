import type { Node } from 'web-tree-sitter'
import { withMatches } from '../parse.ts'

/** A structure that one declaration shows. */
export interface Shape {
  /** `extends`: a class or type with a base; `carries`: a decorator or attribute; `made-by`: an exported value that a call makes; `throws`: what is thrown. */
  readonly kind: 'extends' | 'carries' | 'made-by' | 'throws' | 'exports'
  /** The base, decorator, callee or error; `default` or `named` of an export. */
  readonly of: string
  readonly line: number
}

const JS = `
  (class_declaration decorator: (decorator [(identifier) @carries (call_expression function: (_) @carries)]))
  (export_statement decorator: (decorator [(identifier) @carries (call_expression function: (_) @carries)]))
  (program (export_statement declaration: (lexical_declaration (variable_declarator value: (call_expression function: [(identifier) (member_expression)] @made-by)))))
  (program (export_statement "default" @default value: (call_expression function: [(identifier) (member_expression)] @made-by)))
  (throw_statement (new_expression constructor: (_) @throws))
  (program (export_statement "default" @exports))
  (program (export_statement declaration: (_) @exports))`

/** What each grammar calls these; the names are those of `Shape.kind`. */
const QUERIES: Readonly<Record<string, string>> = {
  typescript: `${JS} (class_declaration (class_heritage (extends_clause value: (_) @extends)))`,
  tsx: `${JS} (class_declaration (class_heritage (extends_clause value: (_) @extends)))`,
  javascript: `${JS} (class_declaration (class_heritage (_) @extends))`,
  python: `
    (class_definition superclasses: (argument_list . [(identifier) (attribute)] @extends))
    (module (decorated_definition (decorator [(identifier) @carries (attribute) @carries (call function: (_) @carries)])))
    (module (expression_statement (assignment right: (call function: (_) @made-by))))
    (raise_statement (call function: (_) @throws))`,
  rust: `
    (impl_item trait: (_) @extends)
    (attribute_item (attribute (identifier) arguments: (token_tree (identifier) @carries)))`,
  java: `
    (superclass (_) @extends)
    (class_declaration (modifiers [(marker_annotation name: (_) @carries) (annotation name: (_) @carries)]))
    (throw_statement (object_creation_expression type: (_) @throws))`,
}

/** Every such structure of a file; none where no grammar reads it. */
export async function shapesOf(path: string, text: string): Promise<Shape[]> {
  const found = await withMatches(path, text, QUERIES, (matches) =>
    matches.flatMap(({ captures }) =>
      captures.flatMap(({ name, node }): Shape[] => {
        const kind = name as Shape['kind']
        if (name === 'default') return []
        const of = kind === 'exports' ? (node.type === 'default' ? 'default' : 'named') : nameIn(node)
        return of === undefined ? [] : [{ kind, of, line: node.startPosition.row + 1 }]
      }),
    ),
  )
  return found ?? []
}

/** A name without its type arguments; nothing where an expression stands in its place. */
function nameIn(node: Node): string | undefined {
  const text = node.text.replace(/[<[].*$/s, '').trim()
  return /^[\w$.:]{2,60}$/.test(text) ? text : undefined
}
