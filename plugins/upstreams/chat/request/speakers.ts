import { extrasOf } from '@gw2api/gateway/plugin';
import type { ChatPart } from './chat-body.js';

/** Messages of parts: one for each speaker, in turn, with the name. */
export function bySpeaker<Message extends object>(
  parts: readonly ChatPart[],
  message: (parts: readonly ChatPart[]) => Message,
): readonly (Message & { readonly name?: string })[] {
  return runsBySpeaker(parts).map((own) => {
    const { name } = extrasOf(own[0] ?? {});
    return typeof name === 'string' ? { ...message(own), name } : message(own);
  });
}

/** Neighbours of one name, or without one. */
export function runsBySpeaker<Part extends object>(parts: readonly Part[]): readonly (readonly Part[])[] {
  const runs: Part[][] = [];
  let last: unknown;
  for (const part of parts) {
    const { name } = extrasOf(part);
    const run = runs.at(-1);
    if (run && name === last) run.push(part);
    else runs.push([part]);
    last = name;
  }
  return runs;
}
