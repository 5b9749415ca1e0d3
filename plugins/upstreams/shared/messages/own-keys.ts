import {
  mapEvents,
  type ContentBlock,
  type EventMap,
  type EventStream,
  type Message,
  type MessagesRequest,
} from '@gw2api/gateway/plugin';
import { inputJson, keepInput, KeyScanner, type FittedSchema } from '@gw2api/gateway/plugin/upstream';

type KeyNames = FittedSchema['keys'];

/** Arguments of tools whose properties have other names upstream than in the caller's schema. */
export class OwnKeys {
  /** Names upstream by the caller's, for each tool. */
  readonly #sent = new Map<string, KeyNames>();

  add(tool: string, keys: KeyNames): void {
    if (keys.size > 0) this.#sent.set(tool, keys);
  }

  /** The request with the arguments of earlier calls under the names upstream. */
  inHistory<Request extends Pick<MessagesRequest, 'messages'>>(request: Request): Request {
    if (this.#sent.size === 0) return request;
    return { ...request, messages: request.messages.map((message) => this.#renamed(message)) };
  }

  /** The answer with the caller's keys; without renamed keys its events are not parsed. */
  inAnswer(events: EventStream): EventStream {
    return this.#sent.size === 0 ? events : mapEvents(events, answerKeys(this.#sent));
  }

  #renamed(message: Message): Message {
    if (typeof message.content === 'string') return message;
    const content = message.content.map((block) => withKeys(block, this.#sent));
    return content.every((block, at) => block === message.content[at]) ? message : { ...message, content };
  }
}

/** A call with its arguments under other keys; any other block as it is. */
function withKeys(block: ContentBlock, names: ReadonlyMap<string, KeyNames>): ContentBlock {
  if (block.type !== 'tool_use') return block;
  const { name, input } = block;
  const keys = names.get(name);
  if (!keys || typeof input !== 'object' || input === null || Array.isArray(input)) return block;
  const entries = Object.entries(input).map(([key, value]) => [keys.get(key) ?? key, value] as const);
  if (entries.every(([key]) => Object.hasOwn(input, key))) return block;
  const renamed = Object.fromEntries(entries);
  const scanner = new KeyScanner(keys);
  keepInput(renamed, scanner.push(inputJson(input)) + scanner.end());
  return { ...block, input: renamed };
}

function answerKeys(sent: ReadonlyMap<string, KeyNames>): EventMap {
  const own = new Map(
    [...sent].map(([tool, keys]) => [tool, new Map([...keys].map(([to, from]) => [from, to]))]),
  );
  const scanners = new Map<number, KeyScanner>();
  const rest = (index: number) => {
    const text = scanners.get(index)?.end() ?? '';
    scanners.delete(index);
    return text === '' ? [] : [argumentsDelta(index, text)];
  };
  return {
    content_block_start: (event) => {
      const { content_block: block, index } = event;
      const keys = block.type === 'tool_use' ? own.get(block.name) : undefined;
      if (!keys) return event;
      scanners.set(index, new KeyScanner(keys));
      return { ...event, content_block: withKeys(block, own) };
    },
    content_block_delta: (event) => {
      const scanner = scanners.get(event.index);
      if (!scanner || event.delta.type !== 'input_json_delta') return event;
      return argumentsDelta(event.index, scanner.push(event.delta.partial_json));
    },
    content_block_stop: (event) => [...rest(event.index), event],
    message_delta: (event) => [...[...scanners.keys()].flatMap(rest), event],
  };
}

function argumentsDelta(index: number, partial_json: string) {
  return { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } } as const;
}
