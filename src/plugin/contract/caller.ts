import type { KeyLimits } from './protocol-key.js';
import type { Json } from './live.js';

/** Facts about a caller, as `callerClaims` makes them. Plugins add fields by declaration merging. */
export interface CallerClaims {
  readonly [name: string]: Json | undefined;
}

/** Name of the pipeline of requests for which no other one is chosen. */
export const defaultPipeline = 'default';

/** Team of a caller. */
export interface CallerTeam {
  readonly id: string;
  readonly name: string;
  /** Limits that its keys share; absent if it has none. */
  readonly limits?: KeyLimits;
  /** Name of the pipeline of its keys that name none themselves; absent: none. */
  readonly pipeline?: string;
}

/** Caller of the gateway. */
export interface Caller {
  /** `anonymous`: any caller without a key, if `auth` admits them. */
  readonly kind: 'master' | 'key' | 'anonymous';
  /** `master`, `anonymous`, or the id of the protocol key. */
  readonly keyId: string;
  readonly name: string;
  /** Catalog ids or globs that the key may use; absent: all. */
  readonly models?: readonly string[];
  /** Slot ids or globs whose accounts the key may use; absent: all. */
  readonly slots?: readonly string[];
  /** Limits of the key itself; absent if it has none. */
  readonly limits?: KeyLimits;
  /** Team of the key; absent: none. */
  readonly team?: CallerTeam;
  /** Name of the pipeline that its key names, or else its team; absent: neither does. */
  readonly pipeline?: string;
  /** Set by an authentication that knows more than a key; absent: none. */
  readonly claims?: CallerClaims;
}
