import { keepArguments } from './argument-objects.js';
import { forgetInput, hasNumber, keepInput, searchInput } from './kept-inputs.js';
import { JsonCursor } from './json-cursor.js';

/**
 * Keeps the numbers in the tool inputs of a body: their text is searched in `bytes` when one of them is serialized.
 * `body`: the value of these bytes, or of this text, not nested too deeply.
 */
export function keepRequestInputs(body: unknown, bytes: Buffer | string): void {
  const messages = listOf(memberOf(body, 'messages'));
  keepCallArguments(messages, bytes);
  keepCallArguments(listOf(memberOf(body, 'input')), bytes);
  const inputs: PlacedInput[] = [];
  for (const [at, message] of messages.entries()) addPlaced(inputs, message, at);
  if (inputs.length === 0) return;
  const search = {
    run: () => keepTexts(inputs, inputTexts(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)),
  };
  for (const { input } of inputs) searchInput(input, search);
}

/** Keeps the arguments of calls of other formats that are objects; nearly all are texts. */
function keepCallArguments(holders: readonly unknown[], bytes: Buffer | string): void {
  const objects: object[] = [];
  for (const holder of holders) if (mayCall(holder)) objects.push(...callArguments(holder));
  if (objects.length === 0) return;
  const search = {
    run: () => {
      for (const object of objects) forgetInput(object);
      keepArguments(holders, bytes.toString());
    },
  };
  for (const object of objects) searchInput(object, search);
}

/** True for a message of Chat with calls, or an item of Responses that is one. */
function mayCall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { tool_calls: calls, function_call: call, function: named, arguments: own } = value as MaybeCalls;
  return (calls ?? call ?? named ?? own) !== undefined;
}

/** Any object, for reading these fields. */
type MaybeCalls = Readonly<
  Partial<Record<'tool_calls' | 'function_call' | 'function' | 'arguments', unknown>>
>;

/** Arguments with numbers that are objects, of the calls in a message, or of an item. */
function callArguments(holder: unknown): readonly object[] {
  const calls = [holder, memberOf(holder, 'function_call'), ...listOf(memberOf(holder, 'tool_calls'))];
  return calls.flatMap((call) => {
    const given = memberOf(memberOf(call, 'function') ?? call, 'arguments');
    return typeof given === 'object' && given !== null && hasNumber(given) ? [given] : [];
  });
}

interface PlacedInput {
  readonly input: object;
  /** Index of the message, and that of the block in it. */
  readonly place: string;
}

/** Keeps the numbers in the initial tool inputs of blocks, in an event with the text `json`. */
export function keepEventInputs(event: unknown, json: string): void {
  const inputs: PlacedInput[] = [];
  addPlaced(inputs, memberOf(event, 'message'), '');
  const input = numberedInput(memberOf(event, 'content_block'));
  if (inputs.length === 0 && !input) return;
  const cursor = new JsonCursor(Buffer.from(json));
  if (input)
    cursor.member('content_block', () => cursor.member('input', () => keepInput(input, cursor.value())));
  else cursor.member('message', () => keepTexts(inputs, contentTexts(cursor, '')));
}

/** Adds the inputs with numbers of the calls in a message. */
function addPlaced(inputs: PlacedInput[], message: unknown, path: string | number): void {
  if (memberOf(message, 'role') !== 'assistant') return;
  for (const [at, block] of listOf(memberOf(message, 'content')).entries()) {
    const input = numberedInput(block);
    if (input) inputs.push({ input, place: `${path}/${at}` });
  }
}

function numberedInput(block: unknown): object | undefined {
  const input = memberOf(block, 'input');
  return typeof input === 'object' && input !== null && hasNumber(input) ? input : undefined;
}

function keepTexts(inputs: readonly PlacedInput[], texts: ReadonlyMap<string, string>): void {
  for (const { input, place } of inputs) {
    const text = texts.get(place);
    forgetInput(input);
    if (text !== undefined) keepInput(input, text);
  }
}

/** Texts of `messages[*].content[*].input` by their place. Takes one pass over the body. */
function inputTexts(bytes: Buffer): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const cursor = new JsonCursor(bytes);
  cursor.member('messages', () => cursor.items((at) => contentTexts(cursor, String(at), texts)));
  return texts;
}

/** Texts of `content[*].input` of the message that a cursor is at. */
function contentTexts(cursor: JsonCursor, path: string, texts = new Map<string, string>()): typeof texts {
  cursor.member('content', () =>
    cursor.items((at) => cursor.member('input', () => void texts.set(`${path}/${at}`, cursor.value()))),
  );
  return texts;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined; // any object may be read by name
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
