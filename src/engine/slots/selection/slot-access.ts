import { globMatcher, type Caller } from '../../../plugin/index.js';
import type { PickTerms } from '../../../plugin/core.js';
import { keyHasNoSlot, noSlotOfThese } from '../refusal.js';
import type { SlotEntry, WantedModel } from '../pool/slot-entry.js';
import { observedSlot, type NotTaken, type OnChoice } from './observed-choice.js';
import type { PoolContext } from './pool-context.js';

/** View of the pool with only the slots that the stage and the caller's key permit. */
export function limitedContext(
  context: PoolContext,
  { slots, caller }: Pick<PickTerms, 'slots' | 'caller'>,
): PoolContext {
  if (!slots && !caller.slots) return context;
  const inStage = slots ? globMatcher(slots) : () => true;
  const isAllowed = mayUseSlot(caller);
  const refusal = (id: string): NotTaken | undefined => {
    if (!inStage(id)) return 'not_of_stage';
    return isAllowed(id) ? undefined : 'not_of_key';
  };
  return {
    ...context,
    entries: () => context.entries().filter(({ id }) => refusal(id) === undefined),
    onChoice: context.onChoice && withRefused(context, context.onChoice, ({ id }) => refusal(id)),
    notServed: (model) => {
      const serving = servingSlots(context, model);
      if (serving.length === 0) return context.notServed(model);
      return slots && !serving.some(inStage) ? noSlotOfThese(model, slots) : keyHasNoSlot(model, caller);
    },
  };
}

/** Adds to each choice the slots that the request may not use. */
export function withRefused(
  { entries, now }: PoolContext,
  onChoice: OnChoice,
  refusal: (entry: SlotEntry) => NotTaken | undefined,
): OnChoice {
  return (choice) => {
    const refused = entries().flatMap((entry) => {
      const notTaken = refusal(entry);
      const wanted = { id: choice.model, upstreamModel: choice.upstreamModel };
      return notTaken ? [observedSlot(entry, wanted, now(), notTaken)] : [];
    });
    onChoice({ ...choice, slots: [...choice.slots, ...refused] });
  };
}

/** Observer of choices within the organization of a session, if no other `entries` are permitted. */
export function observerWithin(context: PoolContext, entries: readonly SlotEntry[]): OnChoice | undefined {
  const { onChoice } = context;
  if (!onChoice || entries.length === context.entries().length) return onChoice;
  return withRefused(context, onChoice, (entry) =>
    entries.includes(entry) ? undefined : 'other_organization',
  );
}

function servingSlots(context: PoolContext, model: WantedModel): readonly string[] {
  return context.entries().flatMap((entry: SlotEntry) => (entry.serves(model) ? [entry.id] : []));
}

/** Test for slots, by their ids, that a caller may use. */
export function mayUseSlot({ slots }: Pick<Caller, 'slots'>): (id: string) => boolean {
  return slots ? globMatcher(slots) : () => true;
}
