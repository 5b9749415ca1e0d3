import type { BlockOf, ContentBlock, Message } from '@gw2api/gateway/plugin';
import { inputJson } from '@gw2api/gateway/plugin/upstream';
import { answersInOrder, asError, saysError, type CallReader } from '../../shared/answers-in-order.js';
import { asUserTurn } from '../../shared/late-system.js';
import { leftOutText } from '../../shared/losses/left-out.js';
import { placedBlocks } from '../../shared/losses/placed-blocks.js';
import { openReasoning } from '../../shared/reasoning-envelope.js';
import { shortCallId } from '../../shared/openai/tool-names.js';
import type { InputItem, InputPart } from './input-items.js';
import { partOf, type Conversion } from './parts.js';

/** `input` of a conversation: its blocks as items, in their order, but each output right behind its call. */
export function inputItems(messages: readonly Message[], conversion: Conversion): readonly InputItem[] {
  const { takesSystem = true } = conversion.settings;
  const entries = messages.flatMap((given, at) => {
    const message = takesSystem ? given : asUserTurn(given);
    const items = itemsOf(message, `messages[${at}].content`, conversion);
    return message.role === 'assistant' ? [items] : items.map((item) => [item]);
  });
  return answersInOrder(entries, itemCalls).flat();
}

/** Items of an assistant's turn are one entry: outputs stand behind all calls of it. */
const itemCalls: CallReader<readonly InputItem[]> = {
  callsOf: (items) => items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])),
  answeredBy: ([item]) => (item?.type === 'function_call_output' ? item.call_id : undefined),
};

function itemsOf({ role, content }: Message, path: string, conversion: Conversion): readonly InputItem[] {
  const items = new Items(roles[role]);
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  const placed = placedBlocks(blocks, path, conversion);
  for (const { block, at } of placed) addBlock(block, `${path}[${at}]`, items, conversion);
  if (items.isEmpty && placed.length > 0) items.addPart(textInstead(blocks, items.role));
  return items.finish();
}

/** Text of a turn of which nothing remains: an empty one unchanged, else the omitted parts. */
function textInstead(blocks: readonly ContentBlock[], role: Role): InputPart {
  const others = blocks.filter(({ type }) => type !== 'text');
  const text = others.length === 0 ? '' : leftOutText(others);
  return { type: role === 'assistant' ? 'output_text' : 'input_text', text };
}

type Role = 'user' | 'assistant' | 'developer';

const roles = { user: 'user', assistant: 'assistant', system: 'developer' } as const;

/** Items of one message: neighbouring parts share a message item. */
class Items {
  readonly role: Role;
  readonly #items: InputItem[] = [];
  #parts: InputPart[] = [];
  #phase: unknown;

  constructor(role: Role) {
    this.role = role;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0 && this.#parts.length === 0;
  }

  /** Adds a part, to a new item if its phase differs. */
  addPart(part: InputPart, phase?: unknown): void {
    if (phase !== this.#phase) this.finish();
    this.#phase = phase;
    this.#parts.push(part);
  }

  addItem(item: InputItem): void {
    this.finish();
    this.#items.push(item);
  }

  finish(): readonly InputItem[] {
    const phase = typeof this.#phase === 'string' ? { phase: this.#phase } : {};
    const { role } = this;
    if (this.#parts.length > 0) this.#items.push({ type: 'message', role, ...phase, content: this.#parts });
    this.#parts = [];
    return this.#items;
  }
}

function addBlock(block: ContentBlock, path: string, items: Items, conversion: Conversion): void {
  if (block.type === 'tool_use') items.addItem(functionCall(block, conversion));
  else if (block.type === 'tool_result') items.addItem(callOutput(block, path, conversion));
  else if (block.type === 'thinking')
    for (const item of reasoningItems(block, path, conversion)) items.addItem(item);
  else if (block.type === 'text' && items.role === 'assistant') {
    if (block.text !== '') items.addPart({ type: 'output_text', text: block.text }, block['phase']);
  } else if (block.type === 'redacted_thinking') conversion.dropped.add(path, 'mend');
  else for (const part of partOf(block, path, conversion)) items.addPart(part);
}

function functionCall({ id, name, input }: BlockOf<'tool_use'>, { names }: Conversion): InputItem {
  return {
    type: 'function_call',
    call_id: shortCallId(id),
    name: names.short(name),
    arguments: inputJson(input),
  };
}

/** Output of a call: text as a string, with images or documents as a list. */
function callOutput(
  { tool_use_id, content = '', is_error }: BlockOf<'tool_result'>,
  path: string,
  conversion: Conversion,
): InputItem {
  const parts =
    typeof content === 'string'
      ? [{ type: 'input_text', text: content } as const]
      : content.flatMap((block, at) => partOf(block, `${path}.content[${at}]`, conversion));
  const isLost = parts.length === 0 && typeof content !== 'string' && content.length > 0;
  const output = isLost ? leftOutText(content) : outputOf(parts, is_error === true);
  return { type: 'function_call_output', call_id: shortCallId(tool_use_id), output };
}

/**
 * Output of a call; a failed one is marked in its text, the first part of several, since Responses has no field for it.
 */
function outputOf(parts: readonly InputPart[], isError: boolean): string | readonly InputPart[] {
  const texts = parts.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
  if (texts.length === parts.length) return isError ? asError(texts.join('\n')) : texts.join('\n');
  return isError && !saysError(texts[0]) ? [{ type: 'input_text', text: 'Error' }, ...parts] : parts;
}

/** Reasoning of this vendor unchanged, except for its id: nothing is stored that the id could refer to. */
function reasoningItems(
  { signature }: BlockOf<'thinking'>,
  path: string,
  { settings, dropped }: Conversion,
): readonly InputItem[] {
  const { vendor, data } = openReasoning(signature) ?? {};
  if (isItem(data) && (vendor === '' || vendor === settings.vendor)) {
    const { id: _, ...item } = data;
    return [{ ...item, type: 'reasoning' }];
  }
  dropped.add(path, vendor === '' ? 'content' : 'mend');
  return [];
}

function isItem(data: unknown): data is Readonly<Record<string, unknown>> {
  return typeof data === 'object' && data !== null && ('encrypted_content' in data || 'content' in data);
}
