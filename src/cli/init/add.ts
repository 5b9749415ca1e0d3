import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isMap, isNode, isSeq, parseDocument, visit, type Document, type Node, type YAMLSeq } from 'yaml';
import { UsageError } from '../../gateway/start-failure.js';
import { catalogEntries, indented, newTests, slotTest } from './files.js';
import type { FilledSlot } from './filled-slot.js';
import type { Provider } from './providers.js';

/** Config file below the folder of an `init`. */
export const configFile = 'config/gateway.yaml';
/** Tests of that config. */
export const testsFile = 'config/gateway.test.yaml';

/** An existing config, to be edited. */
export interface PresentConfig {
  readonly document: Document;
  readonly text: string;
  readonly slots: YAMLSeq;
  /** Ids of its slots. */
  readonly ids: readonly string[];
  /** Ids of the slots that take any model. */
  readonly takeAny: readonly string[];
}

/** Reads the config that a slot is added to. Throws a UsageError. */
export async function presentConfig(folder: string): Promise<PresentConfig> {
  const file = path.join(folder, configFile);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${configFile} cannot be read (${error.code}); omit --add to create a new config.`);
  });
  const document = parsed(text, configFile);
  const slots = document.get('slots');
  if (!isSeq(slots)) throw new UsageError(`${configFile} has no list of slots; fix it, see gw2api check.`);
  const maps = slots.items.filter(isMap);
  return {
    document,
    text,
    slots,
    ids: maps.map((slot) => String(slot.get('id'))),
    takeAny: maps.filter((slot) => !slot.has('models')).map((slot) => String(slot.get('id'))),
  };
}

/** The config with a further slot; the rest is unchanged, comments too. */
export function withSlot({ document, text, slots }: PresentConfig, slot: FilledSlot): string {
  return withEntry({ document, text, list: slots }, slot.text);
}

/** The catalog of a config with the models of a slot, by its path below the folder; undefined if it needs none. */
export async function withModels(
  folder: string,
  { document }: PresentConfig,
  provider: Provider,
  slot: FilledSlot,
): Promise<{ readonly file: string; readonly text: string } | undefined> {
  const named = document.get('models');
  const file = path.join(path.dirname(configFile), typeof named === 'string' ? named : 'models.yaml');
  if (typeof named !== 'string' || !existsSync(path.join(folder, file))) return undefined;
  const before = await readFile(path.join(folder, file), 'utf8');
  const list = parsed(before, file).get('models');
  if (!isSeq(list)) return undefined;
  const known = new Set(list.items.filter(isMap).map((model) => String(model.get('id'))));
  const added = (await catalogEntries(provider, slot)).filter(({ id }) => !known.has(id));
  let text = before;
  for (const entry of added) text = appended(text, file, 'models', entry.text);
  return added.length > 0 ? { file, text } : undefined;
}

/** The tests of a config with one for a further slot, by their model. */
export async function withTest(folder: string, slot: FilledSlot): Promise<(model: string) => string> {
  const text = await readFile(path.join(folder, testsFile), 'utf8').catch(() => undefined); // none: they are new
  if (text === undefined) return (model) => newTests(slot, model);
  return (model) => appended(text, testsFile, 'tests', slotTest(slot.id, model), '\n');
}

/** A file with a further entry in one of its lists. Throws a UsageError if there is no such list. */
function appended(text: string, file: string, key: string, entry: string, separator = ''): string {
  const document = parsed(text, file);
  const list = document.get(key);
  if (!isSeq(list)) throw new UsageError(`${file} has no list of ${key}; fix it, see gw2api check.`);
  return withEntry({ document, text, list }, entry, separator);
}

interface EditedList {
  readonly document: Document;
  readonly text: string;
  readonly list: YAMLSeq;
}

/** Puts an entry after the last one of a list, as text, so that the rest is unchanged. */
function withEntry({ document, text, list }: EditedList, entry: string, separator = ''): string {
  const last = list.items.at(-1);
  const indent = dashColumn(text, list);
  if (list.flow || indent === undefined || !isNode(last)) {
    list.flow = false;
    list.add(parseDocument(entry).contents);
    return document.toString({ lineWidth: 0 });
  }
  const lineEnd = text.indexOf('\n', Math.max(0, endOf(last) - 1));
  const at = lineEnd === -1 ? text.length : lineEnd + 1;
  const before = text.slice(0, at);
  return `${before}${before.endsWith('\n') ? '' : '\n'}${separator}${indented(entry, indent)}${text.slice(at)}`;
}

/** Column of the dashes of a block list. */
function dashColumn(text: string, { items }: YAMLSeq): number | undefined {
  const [first] = items;
  const start = isNode(first) ? first.range?.[0] : undefined;
  const [, before] = start === undefined ? [] : (/(?:^|\n)( *)- *$/.exec(text.slice(0, start)) ?? []);
  return before?.length;
}

/** End of the last value within a node, without the comments after it. */
function endOf(node: Node): number {
  let end = 0;
  const note = (_: unknown, { range }: Node): void => {
    end = Math.max(end, range?.[1] ?? 0);
  };
  visit(node, {
    Scalar: note,
    Alias: note,
    Seq: (at, seq) => (seq.flow ? note(at, seq) : undefined),
    Map: (at, map) => (map.flow ? note(at, map) : undefined),
  });
  return end;
}

function parsed(text: string, file: string): Document {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw new UsageError(`${file} is not valid YAML: ${error.message.split('\n', 1)[0]}`);
  return document;
}
