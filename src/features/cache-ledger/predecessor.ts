import { isEqual } from './prompt-hashes.js';
import { cachedEnd, type Turn } from './turn.js';

/** Turn that another one continues. */
export interface Predecessor {
  readonly turn: Turn;
  /** False if turns between the two are missing here: another instance may have had them. */
  readonly isDirect: boolean;
}

/**
 * Turn of the same session that a new one continues: of several conversations, the one whose messages it repeats.
 * Undefined if it repeats none, as the first turn of a conversation; `turns`: oldest first.
 */
export function predecessorOf(turns: readonly Turn[], next: Turn): Predecessor | undefined {
  // Nothing that had not begun to answer could be read.
  const answered = turns.filter(({ call }) => call.answeredMs <= next.call.startedMs);
  let best: Continued | undefined;
  for (let at = answered.length - 1; at >= 0; at -= 1) {
    const turn = answered[at];
    if (!turn || (best && !mayBeBetter(turn, best, next))) continue;
    const continued = continuedFrom(turn, next);
    if (continued && (!best || isBetter(continued, best, next))) best = continued;
  }
  best ??= rewrittenFrom(answered.at(-1), next);
  if (!best) return undefined;
  const { turn, repeated } = isSamePlace(best.turn, next) ? best : (warmest(answered, next) ?? best);
  return { turn, isDirect: answersAfter(next, repeated) <= 1 };
}

interface Continued {
  readonly turn: Turn;
  /** Its messages that the new turn repeats unchanged. */
  readonly matches: number;
  /** Messages of the new turn that stand for those of the old one. */
  readonly repeated: number;
}

/** True for the better match: by common messages, then the place of the new turn, then the later one, `best`. */
function isBetter(one: Continued, best: Continued, next: Turn): boolean {
  if (one.matches !== best.matches) return one.matches > best.matches;
  return isSamePlace(one.turn, next) && !isSamePlace(best.turn, next);
}

/** False for a turn that could not be better even if all its messages matched, as most of the older ones. */
function mayBeBetter(turn: Turn, best: Continued, next: Turn): boolean {
  return isBetter({ turn, matches: turn.clientMessages.length, repeated: 0 }, best, next);
}

/** True if both turns have been answered by the same model in the same slot. */
export function isSamePlace({ call: one }: Turn, { call: other }: Turn): boolean {
  return one.slot === other.slot && one.model === other.model;
}

/**
 * Unchanged turn with the longest live cached prefix in the place of the new turn. A session that alternates between
 * two places loses nothing.
 */
function warmest(turns: readonly Turn[], next: Turn): Continued | undefined {
  const alive = turns.filter(
    (turn) => isSamePlace(turn, next) && isAlive(turn, next) && firstDifference(turn, next) === undefined,
  );
  const [turn] = alive.toSorted((one, other) => cachedEnd(other) - cachedEnd(one));
  const matches = turn?.clientMessages.length ?? 0;
  return turn && { turn, matches, repeated: matches };
}

function isAlive({ usedMs, boundaries }: Turn, { call }: Turn): boolean {
  const lifetimeMs = boundaries.at(-1)?.lifetimeMs;
  return lifetimeMs === undefined || call.startedMs - usedMs < lifetimeMs;
}

/** Index of the first part of a turn's cached prefix that the next one lacks; undefined if it has all. */
export function firstDifference(turn: Turn, next: Turn): number | undefined {
  let end = cachedEnd(turn);
  if (end === 0 || turn.prefixes[end - 1] === next.prefixes[end - 1]) return undefined;
  let from = 0;
  while (from + 1 < end) {
    const middle = (from + end) >> 1;
    if (turn.prefixes[middle - 1] === next.prefixes[middle - 1]) from = middle;
    else end = middle;
  }
  return from;
}

/** The turn as the beginning of the next one, or as its end if the caller has dropped the first messages. */
function continuedFrom(turn: Turn, next: Turn): Continued | undefined {
  const count = turn.clientMessages.length;
  const aligned = matchesAt(turn, next, 0);
  if (isMostly(aligned, count, next.clientMessages.length > count))
    return { turn, matches: aligned.count, repeated: count };
  const dropped = droppedFrom(turn, next);
  if (dropped === undefined) return undefined;
  const shifted = matchesAt(turn, next, dropped);
  const isKept = shifted.isLastEqual && shifted.count >= Math.max(2, 0.75 * (count - dropped));
  return isKept ? { turn, matches: shifted.count, repeated: count - dropped } : undefined;
}

interface Matches {
  readonly count: number;
  readonly isLastEqual: boolean;
}

/** Messages of a turn that the next one also has, `dropped` places earlier. */
function matchesAt({ clientMessages: old }: Turn, { clientMessages: own }: Turn, dropped: number): Matches {
  let count = 0;
  for (let at = dropped; at < old.length; at += 1) if (old[at] === own[at - dropped]) count += 1;
  return {
    count,
    isLastEqual: old.length > dropped && old[old.length - 1] === own[old.length - 1 - dropped],
  };
}

/**
 * True if the matches show the same conversation: the whole turn; all but its last message, which callers
 * often rewrite as they go on; or its last message and half of the others.
 */
function isMostly({ count, isLastEqual }: Matches, of: number, isLonger: boolean): boolean {
  if (count === 0) return false;
  if (isLastEqual) return count >= of / 2;
  return isLonger && count >= Math.min(of - 1, Math.max(2, 0.75 * of));
}

/** Number of messages that the next turn lacks at its start; undefined if it does not have the last one of the old. */
function droppedFrom({ clientMessages: old }: Turn, { clientMessages: own }: Turn): number | undefined {
  const last = old[old.length - 1];
  for (let at = Math.min(own.length, old.length - 1) - 1; at >= 0; at -= 1)
    if (own[at] === last) return old.length - 1 - at;
  return undefined;
}

/**
 * The last turn, if the next one shares only its length, its tools and its system prompt: the caller has rewritten all
 * messages.
 */
function rewrittenFrom(turn: Turn | undefined, next: Turn): Continued | undefined {
  if (!turn) return undefined;
  const count = turn.clientMessages.length;
  const isNext = next.clientMessages.length === count + 2 && answersAfter(next, count) === 1;
  const isAlike =
    isEqual(turn.clientTools, next.clientTools) && isEqual(turn.clientSystem, next.clientSystem);
  return isNext && isAlike ? { turn, matches: 0, repeated: count } : undefined;
}

/** Answers of the model, as runs of its messages, among a turn's messages from `from` on. */
function answersAfter({ isAssistant }: Turn, from: number): number {
  let runs = 0;
  for (let at = from; at < isAssistant.length; at += 1)
    if (isAssistant[at] && !(at > from && isAssistant[at - 1])) runs += 1;
  return runs;
}
