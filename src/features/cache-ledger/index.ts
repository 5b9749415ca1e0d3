import type { Extension } from '../../gateway/gateway.js';

/** Causes of lost tokens of the providers' prompt caches. */
export const cacheLedger: Extension<void> = {
  name: 'cache-ledger',
  starts: ({ ledger }) => ledger.cacheCauses,
  open: async (gateway) => (await import('./cache-losses.js')).openCacheLedger(gateway),
};
