import type { ContentBlock } from '@gw2api/gateway/plugin';
import type { Origin, Transcript } from './transcript.js';

/** Caller's path of a block, by its original message or item and its place among the blocks of that. */
export type BlockPath = (origin: Origin, rest: string) => string;

/**
 * Translation of paths of messages, system texts and their blocks in a decoded request; undefined for parts that the
 * caller did not send. Rebuilds the conversation for the first of them, which only a report needs.
 */
export function contentPaths(
  transcript: Transcript,
  blockPath: BlockPath,
): (path: string) => string | undefined {
  let known: Conversation | undefined;
  return (path) => {
    known ??= { system: transcript.system, messages: transcript.messages, origins: transcript.origins };
    const { system, messages, origins } = known;
    const [, list, index, block, rest = ''] =
      /^(messages|system)(?:\[(\d+)\](?:\.content\[(\d+)\])?)?(.*)$/s.exec(path) ?? [];
    const blocks = list === 'system' ? system : contentOf(messages, Number(index));
    const at = list === 'system' ? index : block;
    const found = blocks[Number(at ?? 0)];
    const origin = found && origins.get(found);
    if (!origin) return undefined;
    return list === 'messages' && block === undefined ? origin.path + rest : blockPath(origin, rest);
  };
}

type Conversation = Pick<Transcript, 'system' | 'messages' | 'origins'>;

function contentOf(messages: Conversation['messages'], index: number): readonly ContentBlock[] {
  const content = messages[index]?.content ?? [];
  return typeof content === 'string' ? [] : content;
}
