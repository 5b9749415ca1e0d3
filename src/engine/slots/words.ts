import type { SlotFailure } from '../../plugin/core.js';
import type { NotTaken, ObservedChoice } from './selection/observed-choice.js';

/** Reason why a slot was not taken, phrased to follow its name. */
export const notTakenWords: Readonly<Record<NotTaken, string>> = {
  not_of_stage: 'not among the slots of the stage',
  not_of_key: 'not among the slots of the key',
  no_price: 'lacks a price of the model, which a budget needs',
  proxy_failed: 'its proxy has failed, so other slots are tried first',
  other_organization: 'belongs to another organization than the thinking of the tool loop',
  model_not_served: 'does not serve the model',
  paused: 'paused',
  draining: 'draining',
  rejected: 'rejected: its upstream refuses the credential',
  cooling: 'cooling down',
  has_failed: 'failed this request',
  full: 'full',
  bound_elsewhere: 'free, but the session is bound to another one',
  policy: 'free, but the policy picked another one',
};

/** Result of a choice of a slot. */
export const choiceWords: Readonly<Record<ObservedChoice['result'], string>> = {
  taken: 'taken',
  wait: 'waits for a free place',
  declined: 'the policy picks none',
  none: 'no slot',
};

/** Status, code and deciding header behind a cooldown, as far as there are any. */
export function causeText({ status, code, header }: Pick<SlotFailure, 'status' | 'code' | 'header'>): string {
  return [status, code, header].filter((part) => part !== null).join(', ');
}
