import { blocksIn, isSame, type Prompt, type Section } from './prompt.js';
import { isEqual, type HashedPrompts } from './prompt-hashes.js';

/** A run of parts that differ from the caller's; an empty one if a stage has removed parts. */
export interface StageChange {
  readonly section: Section;
  /** Indices among the tools, the system blocks, or the messages as sent. */
  readonly from: number;
  readonly to: number;
  readonly stage: string;
  /** True if it replaces nothing of the caller. */
  readonly isAdded: boolean;
}

/** Changes that stages have made to a prompt. */
export function stageChanges(history: History, { sent, client }: HashedPrompts): readonly StageChange[] {
  if (sent === client) return [];
  return [
    ...changesIn('tools', client.tools, sent.tools, history),
    ...changesIn('system', client.system, sent.system, history),
    ...changesIn('messages', client.messages, sent.messages, history),
  ];
}

/** A request's prompt after each stage that changed it; the first one is the caller's. */
export type History = readonly { readonly by: string; readonly prompt: Prompt }[];

function changesIn(
  section: Section,
  client: ArrayLike<number>,
  sent: ArrayLike<number>,
  history: History,
): readonly StageChange[] {
  if (isEqual(client, sent)) return [];
  const changes: StageChange[] = [];
  for (const { from, to, missing } of gapsOf(section, client, sent)) {
    const isMissing = missing.from < missing.to;
    const remover = isMissing ? removerOf(section, missing.from, history) : undefined;
    if (remover && (remover.hasShortened || from === to))
      changes.push({ section, from, to: from, stage: remover.by, isAdded: false });
    const isAdded = !isMissing || remover?.hasShortened === true;
    for (let at = from; at < to; at += 1) {
      const stage = makerOf(section, at, history);
      const last = changes.at(-1);
      if (last?.stage === stage && last.from < last.to && last.to === at)
        changes[changes.length - 1] = { ...last, to: at + 1 };
      else changes.push({ section, from: at, to: at + 1, stage, isAdded });
    }
  }
  return changes;
}

/** Sent parts that are not the caller's, and the range of the caller's parts that are missing in their place. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly missing: { readonly from: number; readonly to: number };
}

function gapsOf(section: Section, client: ArrayLike<number>, sent: ArrayLike<number>): readonly Gap[] {
  const isPaired = section === 'messages' && client.length === sent.length;
  return isPaired ? gapsByPlace(client, sent) : gapsByHash(client, sent);
}

/** Gaps between lists of the same length whose parts stand for each other. */
function gapsByPlace(client: ArrayLike<number>, sent: ArrayLike<number>): readonly Gap[] {
  const gaps: Gap[] = [];
  let from = 0;
  for (let at = 0; at <= sent.length; at += 1) {
    if (at < sent.length && sent[at] !== client[at]) continue;
    if (at > from) gaps.push({ from, to: at, missing: { from, to: at } });
    from = at + 1;
  }
  return gaps;
}

function gapsByHash(client: ArrayLike<number>, sent: ArrayLike<number>): readonly Gap[] {
  const gaps: Gap[] = [];
  let [from, missingFrom] = [0, 0];
  for (const [at, clientAt] of [...pairsByHash(client, sent), [sent.length, client.length] as const]) {
    if (at > from || clientAt > missingFrom)
      gaps.push({ from, to: at, missing: { from: missingFrom, to: clientAt } });
    [from, missingFrom] = [at + 1, clientAt + 1];
  }
  return gaps;
}

type Pairs = readonly (readonly [sentAt: number, clientAt: number])[];

/** Parts that both lists have, in the order of both. */
function pairsByHash(client: ArrayLike<number>, sent: ArrayLike<number>): Pairs {
  const places = new Map(Array.from(client, (hash, at) => [hash, at]));
  const pairs: [number, number][] = [];
  let next = 0;
  Array.from(sent).forEach((hash, at) => {
    const clientAt = client[next] === hash ? next : (places.get(hash) ?? -1);
    if (clientAt < next) return;
    pairs.push([at, clientAt]);
    next = clientAt + 1;
  });
  return pairs;
}

/** Stage that first added a sent part. */
function makerOf(section: Section, at: number, history: History): string {
  const final = history.at(-1);
  const sent = final?.prompt[section] ?? [];
  const part = sent[at];
  const isThere = section === 'messages' ? isSameMessage : isSame;
  const made = history.slice(1).find(({ prompt }) => {
    const parts = prompt[section];
    if (section !== 'messages') return parts.some((one) => isThere(one, part));
    // A search for each of many messages would be quadratic: it stands as far from the start or from the end.
    return isThere(parts[at], part) || isThere(parts[at + parts.length - sent.length], part);
  });
  return made?.by ?? final?.by ?? '';
}

function isSameMessage(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  const [blocks, others] = [blocksIn(one), blocksIn(other)];
  return (
    blocks.length > 0 &&
    blocks.length === others.length &&
    blocks.every((block, at) => isSame(block, others[at]))
  );
}

/** First stage that removed a part of the caller, and whether it left no replacement. */
function removerOf(
  section: Section,
  clientAt: number,
  history: History,
): { by: string; hasShortened: boolean } {
  const part = history[0]?.prompt[section][clientAt];
  const isThere = section === 'messages' ? isSameMessage : isSame;
  const at = history.findIndex(({ prompt }) => !prompt[section].some((one) => isThere(one, part)));
  const count = (index: number): number => history.at(index)?.prompt[section].length ?? 0;
  return { by: history.at(at)?.by ?? '', hasShortened: at > 0 && count(at) < count(at - 1) };
}
