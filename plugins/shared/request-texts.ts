import { extrasOf, withExtras, withFields, type MessagesRequest } from '@gw2api/gateway/plugin';
import { reasoningEnvelope } from '@gw2api/gateway/plugin/format';

interface ObjectSet {
  has(part: object): boolean;
  add(part: object): unknown;
}

export interface TextScope {
  /** Also the system prompt. */
  readonly system: boolean;
  /** Messages that need no further change, to which changed ones are added. */
  readonly done?: ObjectSet;
}

/**
 * Changes every text of a request as `mapTexts` does, by a function that takes all of them at once, in the order of the
 * prompt, and may wait.
 */
export async function replaceTexts(
  request: MessagesRequest,
  replace: (texts: readonly string[]) => Promise<readonly string[]>,
  { system, done }: TextScope,
): Promise<MessagesRequest> {
  const texts: string[] = [];
  const seen = done && { has: (part: object) => done.has(part), add: () => undefined };
  mapTexts(request, (text) => (texts.push(text), text), { system, ...(seen && { done: seen }) });
  const replaced = await replace(texts);
  let nth = 0;
  return mapTexts(request, (text) => replaced[nth++] ?? text, { system, ...(done && { done }) });
}

/**
 * Changes every text of a request: those of users and the model, results and inputs of tools, documents, extras. Signed
 * parts stay; unchanged parts are the same objects.
 */
function mapTexts(request: MessagesRequest, map: TextFunction, { system, done }: TextScope): MessagesRequest {
  const change = (value: unknown): unknown => {
    if (!isObject(value)) return mapText(value, map);
    if (done?.has(value) || (value['role'] === 'system' && !system)) return value;
    const changed = mapText(value, map);
    if (isObject(changed)) done?.add(changed);
    return changed;
  };
  // In the order of the prompt: what depends on the texts before, as numbers do, is the same in the next turn.
  const prompt = system ? mapText(request.system, map) : request.system;
  const messages = mapList(request.messages, change);
  const isSame = messages === request.messages && prompt === request.system;
  const changed = { messages, ...(prompt !== undefined && { system: prompt }) };
  // Mapped texts keep the shape.
  const mapped = isSame ? request : withFields(request, changed as Partial<MessagesRequest>);
  return withMappedExtras(mapped, request, map);
}

/** Mapped part with its extras, whose texts are mapped as well. */
function withMappedExtras<Part extends object>(changed: Part, part: object, map: TextFunction): Part {
  const own = extrasOf(part);
  const mapped = mapInput(own, map);
  if (mapped === own && (changed === part || Object.keys(own).length === 0)) return changed;
  return withExtras(changed, mapped as Fields); // mapped from an object
}

/** Maps the strings in the text fields of messages, blocks and sources. */
function mapText(value: unknown, map: TextFunction): unknown {
  if (isObject(value) && value['type'] === 'thinking') return mapThinking(value, map);
  if (isObject(value) && sealed.has(value['type'])) return value;
  const mapped = mapStrings(value, map, isTextField, mapText);
  return isObject(value) && isObject(mapped) ? withMappedExtras(mapped, value, map) : mapped;
}

/**
 * Maps thinking that a caller has sent as plain text, with its own form of that; leaves signed thinking unchanged.
 */
function mapThinking(block: Fields, map: TextFunction): unknown {
  const envelope = reasoningEnvelope.open(block['signature']);
  if (envelope?.vendor !== '') return block;
  const { thinking } = block;
  const text = typeof thinking === 'string' ? map(thinking) : thinking;
  const data = mapInput(envelope.data, map);
  if (text === thinking && data === envelope.data) return block;
  return { ...block, thinking: text, signature: reasoningEnvelope.seal({ vendor: '', data }) };
}

/** Maps all strings of a tool's input, or of extras. */
function mapInput(value: unknown, map: TextFunction): unknown {
  return mapStrings(value, map, () => true, mapInput);
}

type TextFunction = (text: string) => string;
type Fields = Readonly<Record<string, unknown>>;

function mapStrings(
  value: unknown,
  map: TextFunction,
  isMapped: (name: string, owner: Fields) => boolean,
  mapPart: (part: unknown, map: TextFunction) => unknown,
): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return mapList(value, (part) => mapPart(part, map));
  if (!isObject(value)) return value;
  let hasChanged = false;
  const fields = Object.entries(value).map(([name, part]): readonly [string, unknown] => {
    if (!isMapped(name, value)) return [name, part];
    const mapped = name === 'input' ? mapInput(part, map) : mapPart(part, map);
    hasChanged ||= mapped !== part;
    return [name, mapped];
  });
  return hasChanged ? Object.fromEntries(fields) : value;
}

function mapList(list: unknown, change: (part: unknown) => unknown): unknown {
  if (!Array.isArray(list)) return list; // nobody has checked it
  const changed: readonly unknown[] = list.map(change);
  return changed.every((part, nth) => part === list[nth]) ? list : changed;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTextField(name: string, owner: Fields): boolean {
  return textFields.has(name) || (name === 'data' && owner['type'] === 'text');
}

const textFields: ReadonlySet<string> = new Set(['content', 'context', 'input', 'source', 'text', 'title']);

/** Blocks that an upstream has signed or encrypted, and those without text. */
const sealed: ReadonlySet<unknown> = new Set([
  'image',
  'redacted_thinking',
  'web_fetch_tool_result',
  'web_search_tool_result',
]);
