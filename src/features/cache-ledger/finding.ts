import type { CacheLoss } from '../../plugin/internal.js';

/** Cause of a loss, and its place. */
export type Finding = Pick<CacheLoss, 'cause' | 'detail'>;
