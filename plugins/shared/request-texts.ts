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

/** Place of a text: the content of a message, or else thinking, the input of a tool, or an extra. */
export type TextPlace = 'content' | 'other';

/** Texts of a request, in the order of the prompt, and the place of each. */
export interface RequestTexts {
  readonly texts: readonly string[];
  readonly places: readonly TextPlace[];
}

/** Changes every text of a request as `mapTexts` does, by a function that takes all of them at once, and may wait. */
export async function replaceTexts(
  request: MessagesRequest,
  replace: (texts: readonly string[]) => Promise<readonly string[]>,
  scope: TextScope,
): Promise<MessagesRequest> {
  return withTexts(request, await replace(requestTexts(request, scope).texts), scope);
}

/** Every text that `withTexts` changes. */
export function requestTexts(request: MessagesRequest, { system, done }: TextScope): RequestTexts {
  const texts: string[] = [];
  const places: TextPlace[] = [];
  const seen = done && { has: (part: object) => done.has(part), add: () => undefined };
  const keep: TextFunction = (text, place) => (texts.push(text), places.push(place), text);
  mapTexts(request, keep, { system, ...(seen && { done: seen }) });
  return { texts, places };
}

/** The request with other texts, as many and in the same order as `requestTexts` has them. */
export function withTexts(
  request: MessagesRequest,
  texts: readonly string[],
  scope: TextScope,
): MessagesRequest {
  let nth = 0;
  return mapTexts(request, (text) => texts[nth++] ?? text, scope);
}

/** Texts of a part that are content, in the order in which `requestTexts` has them. */
export function contentTexts(part: unknown): readonly string[] {
  const texts: string[] = [];
  mapText(part, (text, place) => {
    if (place === 'content') texts.push(text);
    return text;
  });
  return texts;
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
  const mapped = mapStrings(value, map, content);
  return isObject(value) && isObject(mapped) ? withMappedExtras(mapped, value, map) : mapped;
}

/**
 * Maps thinking that a caller has sent as plain text, with its own form of that; leaves signed thinking unchanged.
 */
function mapThinking(block: Fields, map: TextFunction): unknown {
  const envelope = reasoningEnvelope.open(block['signature']);
  if (envelope?.vendor !== '') return block;
  const { thinking } = block;
  const text = typeof thinking === 'string' ? map(thinking, 'other') : thinking;
  const data = mapInput(envelope.data, map);
  if (text === thinking && data === envelope.data) return block;
  return { ...block, thinking: text, signature: reasoningEnvelope.seal({ vendor: '', data }) };
}

/** Maps all strings of a tool's input, or of extras. */
function mapInput(value: unknown, map: TextFunction): unknown {
  return mapStrings(value, map, other);
}

type TextFunction = (text: string, place: TextPlace) => string;
type Fields = Readonly<Record<string, unknown>>;

/** Rule by which the strings of a value are mapped. */
interface Mapping {
  readonly place: TextPlace;
  readonly isMapped: (name: string, owner: Fields) => boolean;
  readonly mapPart: (part: unknown, map: TextFunction) => unknown;
}

const content: Mapping = { place: 'content', isMapped: isTextField, mapPart: mapText };
const other: Mapping = { place: 'other', isMapped: () => true, mapPart: mapInput };

function mapStrings(value: unknown, map: TextFunction, { place, isMapped, mapPart }: Mapping): unknown {
  if (typeof value === 'string') return map(value, place);
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
