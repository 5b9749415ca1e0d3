import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLMap } from 'yaml';

/** A key of a commented config that stands on a line of its own. */
export interface KeyLine {
  /** As in `Facts`. */
  readonly path: string;
  /** Counts from 0, as do columns. */
  readonly line: number;
  readonly column: number;
  /** Last line of its value. */
  readonly end: number;
  /** Undefined for a key that is commented out. */
  readonly value: Node | undefined;
  /** It begins an entry of a list, so that the comment above it is that of the entry. */
  readonly isEntry: boolean;
}

/** The keys of a config in block style, in their order, with those that are commented out (`# tls: …`). */
export function keyLines(text: string, isKnown: (path: string) => boolean): readonly KeyLine[] {
  const lineCounter = new LineCounter();
  const { contents } = parseDocument(text, { lineCounter });
  const found: KeyLine[] = [];
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: line - 1, column: col - 1 };
  };
  const add: Add = (pair, path, isEntry) => {
    const [from = 0] = pair.key.range ?? [];
    const [, to = from] = pair.value?.range ?? [];
    found.push({
      path,
      ...at(from),
      end: at(Math.max(from, to - 1)).line,
      value: pair.value ?? undefined,
      isEntry,
    });
  };
  if (isMap(contents)) readMap(contents, '', false, add);
  return [...found, ...commentedOut(text, found, isKnown)].toSorted((a, b) => a.line - b.line);
}

interface KeyPair {
  readonly key: Node;
  readonly value: Node | null;
}

type Add = (pair: KeyPair, path: string, isEntry: boolean) => void;

function readMap(map: YAMLMap, path: string, isItem: boolean, add: Add): void {
  if (map.flow === true) return;
  for (const pair of map.items) {
    if (!isPair(pair) || !isScalar(pair.key)) continue;
    const place = path === '' ? String(pair.key.value) : `${path}.${String(pair.key.value)}`;
    const value = (pair.value ?? null) as Node | null; // a parsed document has nodes alone
    add({ key: pair.key, value }, place, isItem && pair === map.items[0]);
    const inner = innerPath(map, place);
    if (isMap(value)) readMap(value, inner, false, add);
    if (isSeq(value)) for (const item of value.items) if (isMap(item)) readMap(item, inner, true, add);
  }
}

/** Path of the keys below a key; options of plugins are below the names of those. */
function innerPath(map: YAMLMap, place: string): string {
  if (/^pipeline\.(?:oneOf\.)?with$/.test(place)) return `stage ${String(map.get('use'))}`;
  if (place === 'slots.with') return `upstream ${String(map.get('upstream'))}`;
  if (place !== 'slots.account') return place;
  return `account ${String(map.getIn(['account', 'kind']))}`;
}

/** Keys that are commented out, of the map of the key above them in the same column. */
function commentedOut(
  text: string,
  keys: readonly KeyLine[],
  isKnown: (path: string) => boolean,
): readonly KeyLine[] {
  const written = new Set(keys.map(({ path }) => path));
  return text.split('\n').flatMap((content, line) => {
    const [, indent = '', key = ''] = /^( +)# (\w+): (?:[[{]|sha256-)/.exec(content) ?? [];
    const sibling = keys.findLast((known) => known.line < line && known.column === indent.length);
    const path = sibling?.path.replace(/\w+$/, key);
    if (key === '' || path === undefined || written.has(path) || !isKnown(path)) return [];
    return [{ path, line, column: indent.length, end: line, value: undefined, isEntry: false }];
  });
}
