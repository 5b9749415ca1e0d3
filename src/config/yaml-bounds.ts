import { Lexer, isAlias, isNode, visit, type Alias, type Document, type Node } from 'yaml';

/** Reason why a YAML text is not parsed, with the place that exceeds the limit. */
export interface YamlExcess {
  readonly offset: number;
  readonly message: string;
}

/** Max nesting depth; real configs have some tens of levels. Each one is a recursion of the parser. */
const maxLevels = 200;
/** Max tokens; a slot has some tens. */
const maxTokens = 500_000;

/**
 * Reports whether a YAML text is nested too deeply, or has too many values, before it is parsed. Takes linear time.
 */
export function yamlExcess(text: string): YamlExcess | undefined {
  return mayExceed(text) ? new Bounds().check(text) : undefined;
}

/** Cheap first check, so that an ordinary text is not read twice. */
function mayExceed(text: string): boolean {
  if (text.length > maxTokens) return true;
  let brackets = 0;
  for (const bracket of text.matchAll(/[[{]|[-?][ \t]+(?=[-?])|^[ \t]{200,}/gm)) {
    brackets += 1;
    if (brackets >= maxLevels || bracket[0].length >= maxLevels) return true;
  }
  return false;
}

/** Counts tokens and levels: those of brackets, and the column at which a line's content begins. */
class Bounds {
  #offset = 0;
  #tokens = 0;
  #brackets = 0;
  #column = 0;
  #isInIndent = true;

  check(text: string): YamlExcess | undefined {
    for (const token of new Lexer().lex(text)) {
      if (marks.has(token)) continue;
      this.#tokens += 1;
      this.#count(token);
      if (this.#brackets > maxLevels || (this.#isInIndent && this.#column > 2 * maxLevels))
        return { offset: this.#offset, message: `is nested more than ${maxLevels} levels deep here` };
      if (this.#tokens > maxTokens)
        return { offset: this.#offset, message: 'has too many values up to here; split it, or remove some' };
      this.#offset += token.length;
    }
    return undefined;
  }

  #count(token: string): void {
    if (token === '[' || token === '{') this.#brackets += 1;
    else if (token === ']' || token === '}') this.#brackets = Math.max(0, this.#brackets - 1);
    if (/^\r?\n$/.test(token)) {
      this.#column = 0;
      this.#isInIndent = true;
    } else if (this.#isInIndent) {
      this.#isInIndent = /^(?:[ \t]+|[-?])$/.test(token);
      if (this.#isInIndent) this.#column += token.length;
    }
  }
}

/** Tokens without characters: starts of a document and of a scalar, the end of broken brackets. */
const marks: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/**
 * Target node of each alias of a document: the last node above it with its anchor. Found in one pass, because
 * `alias.resolve` searches the whole document each time.
 */
export function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target) targets.set(node, target);
    } else if (isNode(node) && node.anchor !== undefined) {
      anchors.set(node.anchor, node);
    }
  });
  return targets;
}

/** Max values read through aliases: ten lines of nested aliases can expand to a billion values. */
const maxAliasValues = 10_000;

/** Limit on the values that are read through aliases. */
export class AliasBudget {
  #outermost: Alias | undefined;
  #values = 0;

  /** Runs `read` for the target of an alias. */
  within<Value>(alias: Alias, read: () => Value): Value {
    const isOutermost = this.#outermost === undefined;
    this.#outermost ??= alias;
    const value = read();
    if (isOutermost) this.#outermost = undefined;
    return value;
  }

  /** Counts a value read through an alias; throws TooManyAliases above the limit. */
  count(): void {
    if (!this.#outermost) return;
    this.#values += 1;
    if (this.#values > maxAliasValues) throw new TooManyAliases(this.#outermost);
  }
}

/** Error for a document whose aliases expand to too many values; ends the reading. */
export class TooManyAliases extends Error {
  /** The outermost alias that was being read. */
  readonly alias: Alias;

  constructor(alias: Alias) {
    const cure = 'use fewer of them, or write the values out';
    super(`aliases here stand for more than ${maxAliasValues} values; ${cure}`);
    this.alias = alias;
  }
}
