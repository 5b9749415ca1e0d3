import { isAlias, isNode, visit, type Alias, type Document, type Node } from 'yaml';

/**
 * The node that each alias of a document stands for: the last one above it with its anchor. Found in one pass: an alias
 * that is asked itself looks through the whole document.
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

/** Values that the aliases of a file may stand for: ten lines of them can say a billion. */
const maxAliasValues = 10_000;

/** The values that are read by way of aliases, up to a limit. */
export class AliasBudget {
  #outermost: Alias | undefined;
  #values = 0;

  /** Runs `read` for what an alias stands for. */
  within<Value>(alias: Alias, read: () => Value): Value {
    const isOutermost = this.#outermost === undefined;
    this.#outermost ??= alias;
    const value = read();
    if (isOutermost) this.#outermost = undefined;
    return value;
  }

  /** Counts a value; throws TooManyAliases where there are too many. */
  count(): void {
    if (!this.#outermost) return;
    this.#values += 1;
    if (this.#values > maxAliasValues) throw new TooManyAliases(this.#outermost);
  }
}

/** Ends the reading of a document whose aliases stand for too much. */
export class TooManyAliases extends Error {
  /** The one that was being read, as it stands in the file. */
  readonly alias: Alias;

  constructor(alias: Alias) {
    const cure = 'use fewer of them, or write the values out';
    super(`aliases here stand for more than ${maxAliasValues} values; ${cure}`);
    this.alias = alias;
  }
}
