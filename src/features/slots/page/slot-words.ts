import type { CoolReason, SlotState } from './api.js';

export const stateWords: Readonly<Record<SlotState, string>> = {
  ready: 'Ready',
  cooling: 'Cooling down',
  rejected: 'Rejected',
  paused: 'Paused',
  draining: 'Draining',
  unusable: 'Unusable',
};

export const reasonWords: Readonly<Record<CoolReason, string>> = {
  rate_limited: 'the upstream said: too many requests',
  overloaded: 'the upstream is overloaded',
  unreachable: 'no connection to the upstream',
  window_exhausted: 'its usage window is used up',
};
