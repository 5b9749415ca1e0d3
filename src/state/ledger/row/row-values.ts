import type { CacheCause, LedgerTokens } from '../../../plugin/core.js';

/** Cost of one request in nano-USD, integers. */
export interface LedgerCost {
  /** Cost of the tokens that the upstream billed. */
  readonly billed: number;
  /** Cost of the tokens that the caller was shown. */
  readonly shown: number;
}

/** Tokens that one stage added to a request, with their cost in nano-USD; absent: unknown. */
export interface LedgerAddition {
  readonly tokens: LedgerTokens;
  readonly cost?: number;
}

/** Tokens that stages added, by the stage's name. */
export type LedgerAdditions = Readonly<Record<string, LedgerAddition>>;

/** Cached tokens that a turn had to send again. */
export interface CacheLoss {
  readonly cause: CacheCause;
  /** Place of the change, such as `message 3` or the name of a stage; at most 100 characters. */
  readonly detail?: string;
  readonly lostTokens: number;
  /** Nano-USD; absent: unknown. */
  readonly lostCost?: number;
}

/** Trace of one request: its stages, and its upstream calls in order. */
export interface LedgerTrace {
  readonly stages: readonly { readonly stage: string; readonly ms: number; readonly skipped?: true }[];
  readonly calls: readonly {
    readonly slot: string;
    /** Model of a call, if it is not the caller's. */
    readonly model?: string;
    readonly ms: number;
    readonly code?: string;
  }[];
  /** Model that answered instead of the requested one. */
  readonly answeredBy?: string;
}
