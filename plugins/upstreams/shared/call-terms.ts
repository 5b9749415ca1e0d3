import type { SlotCall } from '@gw2api/gateway/plugin';

/** Settings of a call that affect its translation, besides the request. */
export type CallTerms = Partial<
  Pick<
    SlotCall,
    | 'addedLimit'
    | 'addedMarkers'
    | 'addedTools'
    | 'headers'
    | 'isTranslated'
    | 'profile'
    | 'stickyKey'
    | 'without'
  >
>;
