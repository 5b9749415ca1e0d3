import type { SlotCall } from '@gw2api/gateway/plugin';

/** Terms of a call that decide about its translation, besides the request. */
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
