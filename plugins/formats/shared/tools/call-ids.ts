import type { BlockOf, ContentBlock, Message } from '@gw2api/gateway/plugin';

/** Ids of tool calls, each given out once. */
export class CallIds {
  readonly #taken: Set<string>;
  /** Last suffix number used for each id. */
  readonly #counts = new Map<string, number>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** The id itself, or a derived one if it is taken: `call_0_2`. */
  unique(id: string): string {
    let count = this.#counts.get(id) ?? 1;
    let unique = id;
    while (this.#taken.has(unique)) unique = `${id}_${(count += 1)}`;
    this.#counts.set(id, count);
    this.#taken.add(unique);
    return unique;
  }
}

/**
 * Makes tool call ids unique: some clients restart their numbering in each turn, and the upstream refuses an
 * id with two calls. Later calls get new ids; results match the calls of the turn before them in order.
 */
export function withUniqueCalls(messages: readonly Message[]): readonly Message[] {
  const ids = new CallIds();
  let asked = new Map<string, Queue>();
  return messages.map((message) => {
    if (typeof message.content === 'string' || message.role === 'system') return message;
    const pending = asked;
    asked = new Map();
    const content = message.content.map((block) => renamed(block, { ids, asked, pending }));
    return content.every((block, at) => block === message.content[at]) ? message : { ...message, content };
  });
}

interface Renaming {
  readonly ids: CallIds;
  /** Ids of this turn's calls by their original ids, in order. */
  readonly asked: Map<string, Queue>;
  /** The same of the turn before. */
  readonly pending: ReadonlyMap<string, Queue>;
}

interface Queue {
  readonly ids: string[];
  /** The number of them that have had their result. */
  answered: number;
}

function renamed(block: ContentBlock, { ids, asked, pending }: Renaming): ContentBlock {
  if (block.type === 'tool_use') {
    const id = ids.unique(block.id);
    const queue = asked.get(block.id);
    if (queue) queue.ids.push(id);
    else asked.set(block.id, { ids: [id], answered: 0 });
    return id === block.id ? block : { ...block, id };
  }
  return block.type === 'tool_result' ? answering(block, pending.get(block.tool_use_id)) : block;
}

function answering(block: BlockOf<'tool_result'>, queue: Queue | undefined): BlockOf<'tool_result'> {
  const id = queue?.ids[queue.answered];
  if (queue) queue.answered += 1;
  return id === undefined || id === block.tool_use_id ? block : { ...block, tool_use_id: id };
}

/** Result of the tool call with the caller's `callId`; an empty result has no content at all. */
export function toolResult(
  callId: string,
  content: string | readonly ContentBlock[],
): BlockOf<'tool_result'> {
  return { type: 'tool_result', tool_use_id: callId, ...(content.length > 0 && { content }) };
}
