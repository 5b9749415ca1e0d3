import path from 'node:path';
import {
  LineCounter,
  Scalar,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Alias,
  type Document,
  type Node,
  type Pair,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { AliasBudget, aliasTargets, TooManyAliases, yamlExcess, type YamlExcess } from './yaml-bounds.js';
import type { SchemaError } from '../plugin/upstream/index.js';
import type { ConfigProblem, Position } from './config.js';
import {
  readSecretFile,
  substitute,
  parseScalar,
  type Environment,
  type Fill,
  type Placeholders,
} from './environment.js';

/** Keys and indices from the root of a file. */
export type Path = readonly (string | number)[];

/** A YAML file as plain values, with the position of each. */
export interface Source {
  readonly file: string;
  /** Values after substitution, without keys that have an empty value unless nulls are kept. */
  readonly value: unknown;
  readonly errors: readonly SchemaError[];
  /**
   * False if the text is not valid YAML or its aliases expand to too many values; then there is one error
   * and no value.
   */
  readonly isYaml: boolean;
  /** Position of a key or a list item; the nearest enclosing one if it is absent. */
  positionOf(path: Path): Position;
  /** Absolute paths of the files that its variables name; absent if nothing is substituted. */
  readonly files?: readonly string[];
}

/**
 * Reads YAML 1.2 with anchors and merge keys; substitutes environment variables and files, whose paths start at
 * `baseDir`. Never throws: problems are in `errors`.
 */
export function readSource(
  text: string,
  file: string,
  env: Environment,
  baseDir = '.',
  placeholders?: Placeholders,
): Source {
  const files = new Set<string>();
  const readSecret = (name: string): string => {
    files.add(path.resolve(baseDir, name));
    return readSecretFile(name, baseDir);
  };
  const fill: Fill = (scalar) => substitute(scalar, env, readSecret, placeholders);
  return { ...new Reader(text, file, fill).read(), files: [...files] };
}

/** The values of a YAML text as written, before environment variables are substituted. */
export function readWritten(text: string): unknown {
  return new Reader(text, '', verbatim).read().value;
}

/** Reads YAML as `readSource` does, but as it is written: nothing is substituted, and an empty value is null. */
export function readVerbatim(text: string, file: string): Source {
  return new Reader(text, file, verbatim, true).read();
}

const verbatim: Fill = (text) => ({ text, unset: [], unread: [], isMalformed: false });

/** Path as text: `pipeline[3].with.cap`. */
export function writePath(path: Path): string {
  return path.map((key, at) => (typeof key === 'number' ? `[${key}]` : at === 0 ? key : `.${key}`)).join('');
}

/** Errors of a source as problems with positions. */
export function locate(errors: readonly SchemaError[], source: Source): readonly ConfigProblem[] {
  return errors.map(({ path, message }) => ({
    at: source.positionOf(path),
    path: writePath(path),
    message,
  }));
}

/** Reads one document in a single pass, collecting positions and problems. */
class Reader {
  readonly #text: string;
  readonly #file: string;
  readonly #fill: Fill;
  readonly #keepsNull: boolean;
  readonly #errors: SchemaError[] = [];
  readonly #lines = new LineCounter();
  readonly #document: Document;
  readonly #excess: YamlExcess | undefined;
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #aliases = new AliasBudget();
  readonly #positions = new Map<string, Position>();
  readonly #entered = new Set<Node>();

  constructor(text: string, file: string, fill: Fill, keepsNull = false) {
    this.#text = text;
    this.#file = file;
    this.#fill = fill;
    this.#keepsNull = keepsNull;
    const lineCounter = this.#lines;
    this.#excess = yamlExcess(text);
    this.#document = parseDocument(this.#excess ? '' : text, {
      lineCounter,
      prettyErrors: false,
      merge: true,
      uniqueKeys: false,
    });
    this.#targets = aliasTargets(this.#document);
  }

  read(): Source {
    if (this.#excess) return this.#tooMuch(this.#excess);
    const { errors, warnings, contents } = this.#document;
    const [first] = [...errors, ...warnings]; // further errors mostly follow from the first
    if (first) return this.#refused(first.pos[0], this.#explain(first));
    try {
      return this.#source((contents && this.#read(contents, [])) ?? {}, this.#errors);
    } catch (error) {
      if (!(error instanceof TooManyAliases)) throw error;
      return this.#refused(error.alias.range?.[0] ?? 0, error.message);
    }
  }

  #source(value: unknown, errors: readonly SchemaError[], isYaml = true): Source {
    return { file: this.#file, value, errors, isYaml, positionOf: (path) => this.#positionOf(path) };
  }

  /** A source without values, for a text that is refused as a whole. */
  #refused(offset: number, message: string): Source {
    this.#positions.set(JSON.stringify([]), this.#at(offset));
    return this.#source({}, [{ path: [], message }], false);
  }

  /** A source without values, for a text that has not been parsed. */
  #tooMuch({ offset, message }: YamlExcess): Source {
    this.#lines.lineStarts = [0];
    for (let at = this.#text.indexOf('\n'); at >= 0 && at < offset; at = this.#text.indexOf('\n', at + 1))
      this.#lines.addNewLine(at + 1);
    return this.#refused(offset, message);
  }

  #explain({ message, pos }: YAMLError): string {
    const isReference = this.#text.slice(pos[0] - 1, pos[0] + 1) === '${';
    return `is not valid YAML here: ${message}${isReference ? '; within braces write "${NAME}" in quotes' : ''}`;
  }

  #positionOf(path: Path): Position {
    const known = this.#positions.get(JSON.stringify(path));
    if (known) return known;
    return path.length === 0 ? this.#at(0) : this.#positionOf(path.slice(0, -1));
  }

  #read(node: Node | null, path: Path): unknown {
    this.#aliases.count();
    if (isAlias(node))
      return this.#aliases.within(node, () => this.#readTarget(this.#targets.get(node), path));
    if (isScalar(node)) return this.#scalar(node, path);
    if (!node) return null;
    this.#entered.add(node);
    const value = isMap(node) ? Object.fromEntries(this.#entries(node, path)) : this.#items(node, path);
    this.#entered.delete(node);
    return value;
  }

  #readTarget(target: Node | undefined, path: Path): unknown {
    if (!target) return this.#complain(path, 'names an anchor that is not defined above it');
    if (this.#entered.has(target)) return this.#complain(path, 'contains itself');
    return this.#read(target, path);
  }

  #readAt(place: Node | null, node: Node | null, path: Path): unknown {
    if (place?.range) this.#positions.set(JSON.stringify(path), this.#at(place.range[0]));
    return this.#read(node, path);
  }

  #items(node: Node, path: Path): unknown {
    return isSeq<Node>(node) ? node.items.map((item, at) => this.#readAt(item, item, [...path, at])) : null;
  }

  /** Entries of a map: merged keys first, so that the map's own keys override them. */
  #entries(map: YAMLMap, path: Path): [string, unknown][] {
    const pairs = map.items as Pair<Node, Node | null>[]; // a parsed map has nodes
    const merged = pairs.filter(({ key }) => isMergeKey(key));
    const own = pairs.filter(({ key }) => !isMergeKey(key));
    const seen = new Map<string, Node>();
    return [
      ...merged.flatMap(({ value }) => this.#mergeEntries(value, path)),
      ...own.flatMap(({ key, value }) => this.#entry(key, value, path, seen)),
    ];
  }

  #mergeEntries(value: Node | null, path: Path): [string, unknown][] {
    const sources = isSeq<Node>(value) ? value.items.toReversed() : [value];
    return sources.flatMap((source) => {
      const merged = this.#read(source, path);
      return typeof merged === 'object' && merged !== null ? Object.entries(merged) : [];
    });
  }

  /** Entry of one key; none for an empty value, which counts as not written unless nulls are kept. */
  #entry(key: Node, node: Node | null, path: Path, seen: Map<string, Node>): [string, unknown][] {
    const name = copied(isScalar(key) ? String(key.value) : key.toString());
    this.#checkUnique(name, key, seen, path);
    const value = this.#readAt(key, node, [...path, name]);
    return value === null && !this.#keepsNull ? [] : [[name, value]];
  }

  #checkUnique(name: string, key: Node, seen: Map<string, Node>, path: Path): void {
    const first = seen.get(name);
    if (first) {
      const { line } = this.#at(first.range?.[0] ?? 0);
      this.#complain([...path, name], `appears twice, first at line ${line}; keep one of them`);
    }
    seen.set(name, first ?? key);
  }

  #scalar(scalar: Scalar, path: Path): unknown {
    if (typeof scalar.value !== 'string') return scalar.value;
    const { text, unset, unread, isMalformed } = this.#fill(scalar.value);
    if (isMalformed) this.#complain(path, malformed);
    for (const message of unread) this.#complain(path, message);
    for (const name of unset) this.#complain(path, unsetMessage(name));
    return scalar.type === Scalar.PLAIN && text !== scalar.value ? parseScalar(text) : copied(text);
  }

  #complain(path: Path, message: string): undefined {
    this.#errors.push({ path, message });
  }

  #at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.#file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

/**
 * Copy of a text, without which V8 keeps the whole file and its encoding: with two bytes per character if any character
 * of the file needs them, also in log lines and rows with the id of a slot.
 */
function copied(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string; // one byte where that is enough
}

function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.type === Scalar.PLAIN && key.source === '<<';
}

const malformed = 'looks like a variable; write ${NAME} or ${NAME:-default}, or $${ for a plain ${';

function unsetMessage(name: string): string {
  return `the environment variable ${name} is not set; set it, or write \${${name}:-default}`;
}
