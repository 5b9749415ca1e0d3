import type { Section } from './prompt.js';
import type { StageChange } from './stage-changes.js';
import type { Turn } from './turn.js';
import type { CacheLoss } from '../../state/ledger/contract.js';

/** Place of a part: index among the tools, the system blocks or the messages. */
interface Place {
  readonly section: Section;
  readonly index: number;
}

/** Client or stage behind the first part that differs between the prompts of two turns. */
export function blame(turn: Turn, next: Turn, at: number): Finding {
  const place = earlier(placeOf(turn, at), placeOf(next, at));
  const [old, own] = [changesAt(turn, place), changesAt(next, place)];
  const isAdded = [old, own].every((changes) => changes.some((change) => change.isAdded));
  if (!isAdded && clientDiffers(turn, next, place))
    return { cause: 'client_changed', detail: placeName(turn, next, at) };
  const stage =
    oneSided(own, turn) ??
    oneSided(old, next) ??
    (own[0] ?? old[0])?.stage ??
    soleStage([turn, next], place.section);
  return stage === undefined
    ? { cause: 'unknown', detail: placeName(turn, next, at) }
    : { cause: 'stage_changed', detail: stage };
}

/** Section of the first part that differs. */
export function sectionOf(turn: Turn, next: Turn, at: number): Section {
  return earlier(placeOf(turn, at), placeOf(next, at)).section;
}

/** Name of a place for people, counted from 1 in the request that the caller sent: `message 3`. */
export function placeName(turn: Turn, next: Turn, at: number): string {
  const place = earlier(placeOf(turn, at), placeOf(next, at));
  const index = clientIndex(placeOf(next, at).section === place.section ? next : turn, place);
  if (place.section === 'messages') return `message ${index + 1}`;
  if (place.section === 'tools') return `tool ${index + 1}`;
  return next.clientSystem.length > 1 ? `system block ${index + 1}` : 'system prompt';
}

const order: Readonly<Record<Section, number>> = { tools: 0, system: 1, messages: 2 };

function earlier(one: Place, other: Place): Place {
  return order[one.section] <= order[other.section] ? one : other;
}

function placeOf({ toolsEnd, systemEnd, starts }: Turn, at: number): Place {
  if (at < toolsEnd) return { section: 'tools', index: at };
  if (at < systemEnd) return { section: 'system', index: at - toolsEnd };
  let index = starts.length - 1;
  while (index > 0 && (starts[index] ?? 0) > at - systemEnd) index -= 1;
  return { section: 'messages', index: Math.max(0, index) };
}

/** Stage of a change without a counterpart in another turn. */
function oneSided(changes: readonly StageChange[], other: Turn): string | undefined {
  return changes.find(
    ({ section, stage }) =>
      !other.changes.some((change) => change.section === section && change.stage === stage),
  )?.stage;
}

/** Changes of stages at a place, the removal of a part there included. */
function changesAt({ changes }: Turn, { section, index }: Place): readonly StageChange[] {
  return changes.filter(
    (change) =>
      change.section === section && change.from <= index && index < Math.max(change.to, change.from + 1),
  );
}

/** Index that a sent part has in the caller's request. */
function clientIndex({ changes }: Turn, { section, index }: Place): number {
  const added = changes.filter(
    (change) => change.section === section && change.isAdded && change.from < index,
  );
  return index - added.reduce((sum, { from, to }) => sum + Math.min(to, index) - from, 0);
}

function clientDiffers(turn: Turn, next: Turn, place: Place): boolean {
  const [old, own] = [clientParts(turn, place), clientParts(next, place)];
  const at = clientIndex(next, place);
  return old[at] !== own[at] || old[clientIndex(turn, place)] !== own[clientIndex(turn, place)];
}

function clientParts(
  { clientTools, clientSystem, clientMessages }: Turn,
  { section }: Place,
): ArrayLike<number> {
  return section === 'tools' ? clientTools : section === 'system' ? clientSystem : clientMessages;
}

/** The one stage that has changed a section in any of these turns; undefined if there are several. */
function soleStage(turns: readonly Turn[], section: Section): string | undefined {
  const changes = turns.flatMap(({ changes }) => changes.filter((change) => change.section === section));
  const stages = new Set(changes.map(({ stage }) => stage));
  return stages.size === 1 ? changes[0]?.stage : undefined;
}

/** Cause of a loss, and its place. */
export type Finding = Pick<CacheLoss, 'cause' | 'detail'>;
