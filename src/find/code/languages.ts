/** A programming language: its files, its grammar, and what of its syntax matters here. */
export interface Language {
  readonly name: string
  readonly extensions: readonly string[]
  /** The file of the grammar, without its ending. */
  readonly grammar: string
  /**
   * A query of tree-sitter. `@comment` does not count, `@verbatim` counts as it is written, `@callee` is called,
   * `@scope` qualifies the names inside. Any other capture is a symbol of that kind, with its `@name`.
   */
  readonly query: string
  /** Line breaks and indentation mean something. */
  readonly indented?: boolean
  /** Both kinds of quotes mean the same. */
  readonly quotes?: boolean
}

const JS_CORE = `
  (comment) @comment
  [(string) (template_string) (regex)] @verbatim
  (function_declaration name: (_) @name) @function
  (generator_function_declaration name: (_) @name) @function
  (class_declaration name: (_) @name) @class
  (method_definition name: (_) @name) @method
  (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
  (assignment_expression left: (member_expression property: (_) @name) right: [(arrow_function) (function_expression)]) @function
  (pair key: (_) @name value: [(arrow_function) (function_expression)]) @method
  (program [(lexical_declaration (variable_declarator name: (identifier) @name) @variable) (variable_declaration (variable_declarator name: (identifier) @name) @variable)])
  (program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
  (export_statement "default" @name value: (_) @default)
  (call_expression function: [(identifier) @callee (member_expression property: (_) @callee)])
  (new_expression constructor: [(identifier) @callee (member_expression property: (_) @callee)])`

const TYPESCRIPT = `${JS_CORE}
  (abstract_class_declaration name: (_) @name) @class
  (public_field_definition name: (_) @name) @field
  (interface_declaration name: (_) @name) @interface
  (type_alias_declaration name: (_) @name) @type
  (enum_declaration name: (_) @name) @enum
  (internal_module name: (_) @name) @namespace`

const PYTHON = `
  (comment) @comment
  (string) @verbatim
  (function_definition name: (_) @name) @function
  (class_definition name: (_) @name) @class
  (module (expression_statement (assignment left: (identifier) @name) @variable))
  (class_definition body: (block (expression_statement (assignment left: (identifier) @name) @field)))
  (call function: [(identifier) @callee (attribute attribute: (_) @callee)])`

const GO = `
  (comment) @comment
  [(interpreted_string_literal) (raw_string_literal) (rune_literal)] @verbatim
  (function_declaration name: (_) @name) @function
  (method_declaration receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @scope (pointer_type (type_identifier) @scope)
    (generic_type type: (_) @scope) (pointer_type (generic_type type: (_) @scope))])) name: (_) @name) @method
  (type_spec name: (_) @name) @type
  (type_alias name: (_) @name) @type
  (source_file (const_declaration (const_spec name: (_) @name) @constant))
  (source_file (var_declaration [(var_spec name: (_) @name) @variable (var_spec_list (var_spec name: (_) @name) @variable)]))
  (call_expression function: [(identifier) @callee (selector_expression field: (_) @callee)])`

const RUST = `
  [(line_comment) (block_comment)] @comment
  [(string_literal) (raw_string_literal) (char_literal)] @verbatim
  (function_item name: (_) @name) @function
  (function_signature_item name: (_) @name) @function
  (struct_item name: (_) @name) @struct
  (enum_item name: (_) @name) @enum
  (union_item name: (_) @name) @union
  (trait_item name: (_) @name) @trait
  (impl_item type: [(type_identifier) @name (generic_type type: (_) @name) (scoped_type_identifier name: (_) @name)]) @scope
  (mod_item name: (_) @name) @module
  (const_item name: (_) @name) @constant
  (static_item name: (_) @name) @constant
  (type_item name: (_) @name) @type
  (macro_definition name: (_) @name) @macro
  (call_expression function: [(identifier) @callee (field_expression field: (_) @callee) (scoped_identifier name: (_) @callee)])
  (macro_invocation macro: (identifier) @callee)`

const JAVA = `
  [(line_comment) (block_comment)] @comment
  [(string_literal) (character_literal)] @verbatim
  (class_declaration name: (_) @name) @class
  (interface_declaration name: (_) @name) @interface
  (enum_declaration name: (_) @name) @enum
  (record_declaration name: (_) @name) @record
  (annotation_type_declaration name: (_) @name) @annotation
  (method_declaration name: (_) @name) @method
  (constructor_declaration name: (_) @name) @constructor
  (field_declaration declarator: (variable_declarator name: (_) @name)) @field
  (method_invocation name: (_) @callee)
  (object_creation_expression type: [(type_identifier) @callee (generic_type (type_identifier) @callee)])`

const LANGUAGES: readonly Language[] = [
  { name: 'typescript', extensions: ['ts', 'mts', 'cts'], grammar: 'tree-sitter-typescript', query: TYPESCRIPT, quotes: true },
  { name: 'tsx', extensions: ['tsx'], grammar: 'tree-sitter-tsx', query: TYPESCRIPT, quotes: true },
  { name: 'javascript', extensions: ['js', 'mjs', 'cjs', 'jsx'], grammar: 'tree-sitter-javascript', query: `${JS_CORE}\n(field_definition property: (_) @name) @field`, quotes: true },
  { name: 'python', extensions: ['py', 'pyi'], grammar: 'tree-sitter-python', query: PYTHON, indented: true, quotes: true },
  { name: 'go', extensions: ['go'], grammar: 'tree-sitter-go', query: GO },
  { name: 'rust', extensions: ['rs'], grammar: 'tree-sitter-rust', query: RUST },
  { name: 'java', extensions: ['java'], grammar: 'tree-sitter-java', query: JAVA },
] // biome-ignore format: a line for each

export const languageOf = (path: string): Language | undefined => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot < 0 ? undefined : LANGUAGES.find((l) => l.extensions.includes(name.slice(dot + 1).toLowerCase()))
}
