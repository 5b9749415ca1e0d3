import type { ContentBlock, EventOf } from '../../contract/messages.js';
import { inputJson, keepInput } from '../../inputs/kept-inputs.js';
import { isRecord } from '../../../kit/schema/record.js';
import { TextWindow, type TextKind, type TextMap, type TextMatch } from './text-window.js';

/** Text of one kind in a whole block. */
export interface BlockText {
  readonly kind: TextKind;
  readonly text: string;
  /** Copy of the block with another text. */
  readonly withText: (text: string) => ContentBlock;
}

/** Initial text of a block; undefined for an empty one, and for a kind without text. */
export function textOfBlock(block: ContentBlock): BlockText | undefined {
  const found = (kind: TextKind, text: string | undefined, withText: BlockText['withText']) =>
    text === undefined || text === '' ? undefined : { kind, text, withText };
  if (block.type === 'text') return found('text', block.text, (text) => ({ ...block, text }));
  if (block.type === 'thinking')
    return found('thinking', block.thinking, (thinking) => ({ ...block, thinking }));
  if (block.type !== 'tool_use' || !isRecord(block.input) || Object.keys(block.input).length === 0)
    return undefined;
  return found('input', inputJson(block.input), (text) => ({ ...block, input: inputOf(text) }));
}

function inputOf(text: string): object {
  try {
    const input: unknown = JSON.parse(text);
    if (!isRecord(input)) return {};
    keepInput(input, text);
    return input;
  } catch {
    return {}; // the replacement of a match is not JSON: none of the input may be let out
  }
}

/** Start of a message whose first content has been searched. */
export interface SearchedStart {
  readonly event: EventOf<'message_start'>;
  /** Length of the remaining text. */
  readonly length: number;
  readonly end: TextMatch['ends'];
}

/** Searches the content of a `message_start`, and drops the rest after a match that ends the answer. */
export function searchedStart(
  event: EventOf<'message_start'>,
  map: TextMap,
  kinds: ReadonlySet<TextKind>,
): SearchedStart {
  const content: ContentBlock[] = [];
  let length = 0;
  let end: TextMatch['ends'];
  for (const block of event.message.content) {
    const piece = textOfBlock(block);
    if (!piece || !kinds.has(piece.kind)) {
      content.push(block);
      continue;
    }
    const window = new TextWindow(map, piece.kind);
    const text = window.write(piece.text) + window.flush();
    content.push(text === piece.text ? block : piece.withText(text));
    length += text.length;
    if ((end = window.end)) break;
  }
  return { event: { ...event, message: { ...event.message, content } }, length, end };
}
