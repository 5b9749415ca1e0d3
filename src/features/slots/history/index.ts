import type { Extension } from '../../../gateway/gateway.js';
import type { SlotHistoryParts } from './open-history.js';

/** History of the slots: their changes, and samples of their usage windows for forecasts. */
export const slotHistory: Extension<SlotHistoryParts> = {
  name: 'slot-history',
  starts: (_, { dry, isCheck = false }) => !dry && !isCheck,
  open: async (gateway) => (await import('./open-history.js')).openHistory(gateway),
};
