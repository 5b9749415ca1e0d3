import type { CacheLoss } from '../../state/ledger/contract.js';

/** Cause of a loss, and its place. */
export type Finding = Pick<CacheLoss, 'cause' | 'detail'>;
