import type { DryOutcome } from '../dry-run/outcome.js';

type Slot = DryOutcome['slots'][string];

/** Max slots that are told. */
const maxSlots = 8;

/**
 * The calls and the states of all slots in one line: `slots: one: overloaded, cooling until …; two: answered`.
 * Undefined where no slot was asked, and all are ready.
 */
export function causeOf({ calls, slots }: Pick<DryOutcome, 'calls' | 'slots'>): string | undefined {
  const all = Object.values(slots);
  if (calls.length === 0 && all.every(isReady)) return undefined;
  const told = all.slice(0, maxSlots).map((slot) => `${slot.id}: ${wordsOf(slot, calls)}`);
  const more = all.length > told.length ? [`${all.length - told.length} more`] : [];
  return `slots: ${[...told, ...more].join('; ')}`;
}

function isReady({ state, models }: Slot): boolean {
  return state === 'ready' && models.length === 0;
}

function wordsOf(slot: Slot, calls: DryOutcome['calls']): string {
  const asked = calls.filter((call) => call.slot === slot.id).map(({ code = 'answered' }) => code);
  const { state, untilMs, models } = slot;
  const states = [
    ...(state === 'ready' ? [] : [untilMs === null ? state : `${state} until ${timeOf(untilMs)}`]),
    ...models.map(({ model, untilMs: endMs }) => `cooling for ${model} until ${timeOf(endMs)}`),
  ];
  return [...(asked.length > 0 ? asked : ['not asked']), ...states].join(', ');
}

function timeOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString() : 'further notice';
}
