import { blame, placeName, sectionOf, type Finding } from './blame.js';
import { firstDifference, isSamePlace, type Predecessor } from './predecessor.js';
import { cachedEnd, cachedTokens, changedParameters, type Turn } from './turn.js';

/** Cause that alone explains the whole loss; `turns`: those of the session. */
export function causeOf({ turn, isDirect }: Predecessor, next: Turn, turns: readonly Turn[]): Finding {
  const difference = firstDifference(turn, next);
  if (!isDirect) {
    // What happened to the cache meanwhile is not known here, but the change of a prompt is.
    const isCertain = difference !== undefined && isSamePlace(turn, next);
    return isCertain ? contentCause(turn, next, difference, turns) : unseen;
  }
  return (
    expiredWhole(turn, next) ??
    movedCause(turn, next) ??
    (difference === undefined ? settingsCause(turn, next) : contentCause(turn, next, difference, turns))
  );
}

const unseen: Finding = { cause: 'unknown', detail: 'this process did not see the earlier turns' };

function expiredWhole(turn: Turn, next: Turn): Finding | undefined {
  const [longest] = turn.boundaries;
  const isOver = idleMs(turn, next) >= (longest?.lifetimeMs ?? maxLifetimeMs);
  return isOver ? expired(turn, next) : undefined;
}

/** Expiry of the last marked part, which has the shortest lifetime of all. */
function expiredLast(turn: Turn, next: Turn): Finding | undefined {
  const last = turn.boundaries.at(-1);
  return last && idleMs(turn, next) >= last.lifetimeMs ? expired(turn, next) : undefined;
}

function expired(turn: Turn, next: Turn): Finding {
  return { cause: 'expired', detail: `${Math.floor(idleMs(turn, next) / 60_000)} min after its last use` };
}

/** Max lifetime of unmarked parts at any provider. */
const maxLifetimeMs = 3_600_000;

/** Lifetime of unmarked parts at a provider. */
const minLifetimeMs = 300_000;

function idleMs({ usedMs }: Turn, { call }: Turn): number {
  return call.startedMs - usedMs;
}

function movedCause({ call: before }: Turn, { call: after }: Turn): Finding | undefined {
  if (before.model !== after.model)
    return { cause: 'model_changed', detail: `${before.model} to ${after.model}` };
  if (before.slot !== after.slot) return { cause: 'slot_moved', detail: `${before.slot} to ${after.slot}` };
  return undefined;
}

/** Cause of a loss behind a changed prompt; unknown if there may be further causes. */
function contentCause(turn: Turn, next: Turn, at: number, turns: readonly Turn[]): Finding {
  const isInMessages = sectionOf(turn, next, at) === 'messages';
  const expiry = isInMessages && expiredLast(turn, next);
  if (expiry) return expiry;
  const changed = isInMessages ? changedParameters(turn, next) : [];
  if (changed.length > 0)
    return { cause: 'unknown', detail: `${changed.join(', ')} and ${placeName(turn, next, at)}` };
  if (lostMore(next, turns))
    return { cause: 'unknown', detail: `${placeName(turn, next, at)} changed, and more was lost` };
  return blame(turn, next, at);
}

/** True if the turn has read less than another one has cached, although its prompt is unchanged. */
function lostMore(next: Turn, turns: readonly Turn[]): boolean {
  return turns.some(
    (turn) =>
      turn.call.answeredMs <= next.call.startedMs &&
      isSamePlace(turn, next) &&
      cachedTokens(turn) > next.call.readTokens &&
      !expiredLast(turn, next) &&
      isInReach(turn, next) &&
      firstDifference(turn, next) === undefined,
  );
}

/** Cause of a loss behind an unchanged prompt. */
function settingsCause(turn: Turn, next: Turn): Finding {
  return (
    expiredLast(turn, next) ??
    markerCause(turn, next) ??
    parameterCause(turn, next) ??
    maybeExpired(turn, next) ?? { cause: 'provider', detail: 'nothing changed' }
  );
}

function markerCause(turn: Turn, next: Turn): Finding | undefined {
  if (turn.boundaries.length === 0 || isInReach(turn, next)) return undefined;
  const stage = next.boundaries.length > 0 ? next.markedBy : turn.markedBy;
  if (stage !== undefined) return { cause: 'stage_changed', detail: stage };
  return { cause: 'client_changed', detail: 'cache markers' };
}

/** True if a marker of the next turn is close enough to the end of the other one's cached prefix. */
function isInReach(turn: Turn, next: Turn): boolean {
  const end = cachedEnd(turn);
  if (turn.boundaries.length === 0) return true;
  return next.boundaries.some((boundary) => boundary.end >= end && boundary.end - end <= maxLookback);
}

/** Number of blocks before a marker in which providers look for a cached prefix. */
const maxLookback = 20;

function parameterCause(turn: Turn, next: Turn): Finding | undefined {
  const changed = changedParameters(turn, next);
  return changed.length > 0 ? { cause: 'model_changed', detail: changed.join(', ') } : undefined;
}

/** Expiry within the uncertainty of a lifetime's start or length. */
function maybeExpired(turn: Turn, next: Turn): Finding | undefined {
  const last = turn.boundaries.at(-1);
  if (!last)
    return idleMs(turn, next) >= minLifetimeMs
      ? { cause: 'unknown', detail: 'the lifetime of this cache is not known' }
      : undefined;
  const isLate = next.call.startedMs - turn.call.startedMs >= last.lifetimeMs;
  return isLate && turn.usedMs === turn.call.answeredMs ? expired(turn, next) : undefined;
}
