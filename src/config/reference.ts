import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isMap, isPair, isScalar, isSeq, parseDocument, type Node, type YAMLMap } from 'yaml';

/** The config that has every key, with comments. */
const reference = fileURLToPath(new URL('../../config/gateway.reference.yaml', import.meta.url));

/**
 * Comments of the reference config on each key, by the paths of `readComments`. Empty where the file is missing, as
 * where another folder has been mounted in place of `config`.
 */
export async function referenceComments(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(reference, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return readComments(text);
}

/**
 * Comments above the keys of a commented config, by path: `listen.port`, `slots.weight`; what a stage, an upstream or
 * an account has stands under its name: `stage auth.anonymous`, `upstream chat.preset`, `account oauth.tokenUrl`.
 */
function readComments(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const root = parseDocument(text).contents;
  if (isMap(root)) readMap(root, '', found);
  return found;
}

type Found = Map<string, string>;

function readMap(map: YAMLMap, path: string, found: Found): void {
  for (const pair of map.items) {
    if (!isPair(pair) || !isScalar(pair.key)) continue;
    const key = String(pair.key.value);
    const place = path === '' ? key : `${path}.${key}`;
    // The comment above the first key of a map is that of the map, which the parser gives to the map itself.
    const comment = wordsOf(pair.key) ?? (pair === map.items[0] && path !== '' ? wordsOf(map) : undefined);
    if (comment !== undefined && !found.has(place)) found.set(place, comment);
    if (pair.value) readValue(pair.value as Node, place, found); // a parsed document has nodes alone
  }
}

function readValue(value: Node, path: string, found: Found): void {
  if (isMap(value)) readMap(value, path, found);
  if (!isSeq(value)) return;
  for (const item of value.items) if (isMap(item)) readItem(item, path, found);
}

function readItem(item: YAMLMap, path: string, found: Found): void {
  const options = item.get('with');
  const use = item.get('use');
  if (typeof use === 'string' && isMap(options)) readMap(options, `stage ${use}`, found);
  const upstream = item.get('upstream');
  if (typeof upstream === 'string' && isMap(options)) readMap(options, `upstream ${upstream}`, found);
  const account = item.get('account');
  if (isMap(account)) readMap(account, `account ${String(account.get('kind'))}`, found);
  readMap(item, path, found);
}

function wordsOf({ commentBefore }: Pick<Node, 'commentBefore'>): string | undefined {
  return commentBefore?.replaceAll(/\s+/g, ' ').trim() || undefined;
}
