import type { ContentBlock } from 'gw2api/plugin';
import type { Origin, Transcript } from './transcript.js';

/** Caller's path of a block, by the message or item that it came from and its place among the blocks of that. */
export type BlockPath = (origin: Origin, rest: string) => string;

/**
 * Translation of paths of messages, system texts and their blocks in a decoded request; undefined for what the caller
 * did not send. The conversation is put together again for it, which only a report pays for.
 */
export function contentPaths(
  transcript: Transcript,
  blockPath: BlockPath,
): (path: string) => string | undefined {
  return (path) => {
    const [, list, index, block, rest = ''] =
      /^(messages|system)(?:\[(\d+)\](?:\.content\[(\d+)\])?)?(.*)$/s.exec(path) ?? [];
    const blocks = list === 'system' ? transcript.system : contentOf(transcript, Number(index));
    const origins = transcript.origins;
    const at = list === 'system' ? index : block;
    const found = blocks[Number(at ?? 0)];
    // A text that was trimmed at its end is a copy, and the last one.
    const isLast = Number(index) > 0 && Number(index) === transcript.messages.length - 1;
    const origin = found && (origins.get(found) ?? (isLast ? [...origins.values()].at(-1) : undefined));
    if (!origin) return undefined;
    return list === 'messages' && block === undefined ? origin.path : blockPath(origin, rest);
  };
}

function contentOf({ messages }: Transcript, index: number): readonly ContentBlock[] {
  const content = messages[index]?.content ?? [];
  return typeof content === 'string' ? [] : content;
}
