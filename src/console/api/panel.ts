import type { Operations } from '../../admin/routes.js';
import type { Keys, Logger, Meters, Models, ResponseTotal, SlotStatus, Store } from '../../plugin/index.js';
import type { RequestFeed } from './request-feed.js';

/** What the panel API needs of the gateway; every getter gives what is current, also after a reload. */
export interface Panel {
  readonly log: Logger;
  readonly store: Store;
  readonly keys: Keys;
  readonly models: Models;
  readonly feed: RequestFeed;
  readonly meters: Meters;
  readonly slots: PanelSlots;
  readonly operations: Pick<Operations, 'pause' | 'resume' | 'drain' | 'diagnose'>;
  /** What opens the console; empty: nothing does. */
  readonly password: string;
  /** Aborts when the gateway takes no new requests. */
  readonly closing: AbortSignal;
  readonly pipeline: { readonly file: string; readonly stages: readonly PanelStage[] };
  status(): Promise<PanelStatus>;
  /** Resolves when the ledger has the requests that have ended on any instance, as far as it takes them. */
  written(): Promise<void>;
  /** A protocol key is not what it was: what is known of keys anywhere is out of date. */
  keysChanged(): void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The slots of the config file and of the console, as they are, and not yet without their secrets. */
export interface PanelSlots {
  list(): readonly PanelSlot[];
  /** The schema of an entry under `slots:`. */
  readonly entrySchema: object;
  /** The schema of a merge patch of one. */
  readonly patchSchema: object;
  /** What is wrong with an entry as it would stand under `slots:`, a sentence each. */
  check(entry: object): readonly string[];
  /** A slot of the store is not what it was: the pool takes those that there are now. */
  changed(): Promise<void>;
}

export interface PanelSlot {
  readonly id: string;
  readonly source: 'config' | 'console';
  /** `config/gateway.yaml:40:5`; null for one of the console. */
  readonly place: string | null;
  /** As written under `slots:`, secrets included. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly updatedAtMs: number | null;
  /** Undefined where it does not serve. */
  readonly status: SlotStatus | undefined;
  /** Why it does not serve. */
  readonly problem: string | null;
}

/** A stage, secrets in its options included. */
export interface PanelStage {
  readonly name: string;
  readonly use: string;
  readonly enabled: boolean;
  readonly when: object | undefined;
  readonly path: string;
  readonly at: { readonly file: string; readonly line: number; readonly column: number };
  readonly options: object;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly seals: readonly string[];
  readonly operations: readonly string[];
}

export interface PanelStatus {
  readonly name: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  /** On those instances that have answered. */
  readonly inFlight: { readonly requests: number; readonly instances: number };
  readonly slots: { readonly total: number; readonly schedulable: number };
  readonly store: {
    readonly kind: string;
    readonly ok: boolean;
    readonly ledgerRowsWaiting: number;
    /** Of all keys; undefined while the store does not say. */
    readonly responses: ResponseTotal | undefined;
  };
  readonly live: { readonly kind: string; readonly ok: boolean; readonly instances: number };
  readonly configFile: string;
}
