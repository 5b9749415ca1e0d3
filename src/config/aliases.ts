import { isAlias, isNode, visit, type Alias, type Document, type Node } from 'yaml';

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
