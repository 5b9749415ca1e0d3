import type { Operations } from '../pipeline/operations.js';
import type { Audit } from '../../state/audit/audit.js';
import type { AdminToken } from '../../state/store/contract/admin-token.js';
import type {
  Keys,
  LimitHolder,
  Meters,
  ResponseTotal,
  SlotStatus,
  WholeStore,
  WindowLimit,
} from '../../plugin/core.js';
import type { Logger, Models } from '../../plugin/index.js';
import type { Forecasts } from './history/forecasts.js';
import type { SlotWatch } from './history/slot-watch.js';
import type { ProviderSettings } from '../login/provider.js';
import type { RunPlayground } from '../playground/playground-run.js';
import type { RequestFeed } from '../requests/request-feed.js';
import type { LimitsInUse } from '../keys/team-report.js';

/**
 * Services that the panel API needs from the gateway; every getter returns the current value, also after a
 * reload.
 */
export interface Panel {
  readonly log: Logger;
  readonly store: WholeStore;
  readonly keys: Keys;
  /** Undefined for what is no valid admin token. */
  readonly adminTokens: { check(sent: string): Promise<AdminToken | undefined> };
  readonly audit: Audit;
  readonly models: Models;
  /** True if a slot serves a model of this name, as far as is known. */
  readonly servesModel: (name: string) => boolean;
  readonly feed: RequestFeed;
  /** Error texts of failed requests: kept or not, and for how long. */
  readonly errorTexts: { readonly isOn: boolean; readonly keptMs: number };
  readonly meters: Meters;
  readonly slots: PanelSlots;
  readonly playground: RunPlayground;
  readonly slotWatch: Pick<SlotWatch, 'changes'>;
  /** Forecasts of the usage windows of slots. */
  readonly forecasts: Forecasts;
  readonly operations: Pick<
    Operations,
    | 'pause'
    | 'resume'
    | 'drain'
    | 'diagnose'
    | 'reload'
    | 'previewReload'
    | 'startCanary'
    | 'commitCanary'
    | 'cancelCanary'
    | 'canary'
    | 'explain'
  >;
  /** Ways to sign in beside the password. */
  readonly people: PanelPeople;
  /** Password of the console; empty: nobody can log in. */
  readonly password: string;
  /** Aborts when the gateway stops taking new requests. */
  readonly closing: AbortSignal;
  /** Names of the formats in force. */
  readonly formats: readonly string[];
  /** Pages of plugins. */
  readonly pages: readonly PanelPage[];
  readonly configFile: string;
  /** The pipeline in force. */
  pipeline(): Promise<PanelPipeline>;
  status(): Promise<PanelStatus>;
  /**
   * Resolves when the ledger contains the requests that have finished on any instance, unless it refuses
   * them.
   */
  flushLedger(): Promise<void>;
  /** True where a stage of the pipeline in force counts budgets. */
  readonly countsBudgets: boolean;
  /** Use of some limits of a key or team now, in their units. */
  readonly usedLimits: (holder: LimitHolder, limits: readonly WindowLimit[]) => Promise<LimitsInUse>;
  /** Tells all instances, this one included, that a session has ended. */
  sessionsChanged(): void;
  /** Calls `listener` after `sessionsChanged` on any instance. */
  onSessionsChanged(listener: () => void): void;
  /**
   * Invalidates the caches of keys on all instances, after a key or a team has changed; `ended`: hashes of keys and
   * admin tokens that have ended.
   */
  readonly keysChanged: (...ended: readonly string[]) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Settings of `panel:` in the config. */
export interface PanelPeople {
  /** Address of the gateway as browsers see it, with the path that it is below; present where `oidc` is. */
  readonly publicUrl?: string;
  /** Time without a request after which a session ends; absent: no such limit. */
  readonly sessionIdleMs?: number;
  readonly oidc?: ProviderSettings & {
    /** Name of the provider on the button of the login page. */
    readonly label: string;
    /** Switches logins with the password off. */
    readonly only: boolean;
    readonly sessionMs: number;
  };
}

/** A page that a stage has brought. */
export interface PanelPage {
  readonly title: string;
  /** Path of the route that serves it. */
  readonly url: string;
  readonly stage: string;
}

/** The slots of the config file and of the console, with secrets not redacted. */
export interface PanelSlots {
  list(): readonly PanelSlot[];
  /** The schema of an entry under `slots:`. */
  readonly entrySchema: object;
  /** The schema of a merge patch of an entry. */
  readonly patchSchema: object;
  /** Problems of an entry under the rules of `slots:`, one sentence each. */
  check(entry: object): Promise<readonly string[]>;
  /** Kinds that an entry may name, with the fields of their forms. */
  kinds(): Promise<PanelSlotKinds>;
  /** Reloads the slots of the store into the pool, after one has changed. */
  changed(): Promise<void>;
}

export interface PanelSlotKinds {
  readonly upstreams: readonly PanelSlotKind[];
  readonly accounts: readonly PanelSlotKind[];
  /** Fields of every slot, whatever its kinds. */
  readonly fields: readonly PanelSlotField[];
}

/** A kind of upstream or account. */
export interface PanelSlotKind {
  /** Name in an entry. */
  readonly use: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Keys of a slot that an upstream of this kind cannot do without. */
  readonly needs: readonly string[];
  /** Kinds of account that fit an upstream; null: any. */
  readonly accounts: readonly string[] | null;
  readonly fields: readonly PanelSlotField[];
  /** The reason why no slot can have it. */
  readonly problem: string | null;
}

/** Controls of a form; `texts`: a map of texts, `map`: one of other values, `json`: any value. */
export const slotControls = ['text', 'number', 'boolean', 'choice', 'list', 'texts', 'map', 'json'] as const;

/** An option as a field of a form. */
export interface PanelSlotField {
  readonly keys: readonly string[];
  readonly control: (typeof slotControls)[number];
  /** The only values that it may have; empty: any. */
  readonly choices: readonly unknown[];
  readonly title: string | null;
  readonly description: string | null;
  /** Default of the schema; null: it has none. */
  readonly initial: unknown;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** True for an option that only the config file may set. */
  readonly isLocal: boolean;
}

export interface PanelSlot {
  readonly id: string;
  readonly source: 'config' | 'console';
  /** Position such as `config/gateway.yaml:40:5`; null for a slot of the console. */
  readonly place: string | null;
  /** As written under `slots:`, without what the plugins mark as secret; header values are included. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly updatedAtMs: number | null;
  /** Undefined if the slot is not in the pool. */
  readonly status: SlotStatus | undefined;
  /** The reason why the slot is not in the pool. */
  readonly problem: string | null;
}

export interface PanelPipeline {
  readonly file: string;
  readonly stages: readonly PanelStage[];
}

/** An option of a stage in the words of its schema; secrets are redacted. */
export interface PanelField {
  /** `limits.requestsPerMinute` */
  readonly path: string;
  readonly type: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Default of the schema; null: it has none. */
  readonly initial: unknown;
  /** Variables are shown as the file has them; null: not set, or not shown. */
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** True for a value that is not the default. */
  readonly isChanged: boolean;
}

/** Times of a stage since the start, in all workers. */
export interface PanelStageTimes {
  readonly count: number;
  /** Null without requests. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly faults: number;
  readonly skips: number;
}

/** A stage with its options, whose secrets are redacted. */
export interface PanelStage {
  readonly fields: readonly PanelField[];
  /** Undefined where no request has come to it. */
  readonly times: PanelStageTimes | undefined;
  readonly name: string;
  readonly use: string;
  readonly enabled: boolean;
  readonly group: string | null;
  readonly when: object | undefined;
  readonly conditions: readonly string[];
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
  /** Sum over the instances that have answered, and their number. */
  readonly inFlight: { readonly requests: number; readonly instances: number };
  readonly slots: { readonly total: number; readonly schedulable: number };
  readonly store: {
    readonly kind: string;
    readonly ok: boolean;
    readonly ledgerRowsWaiting: number;
    /** Total of all keys; undefined while the store gives no answer. */
    readonly responses: ResponseTotal | undefined;
  };
  readonly live: { readonly kind: string; readonly ok: boolean; readonly instances: number };
  readonly configFile: string;
  /** Sentences of stages for every page. */
  readonly notices: readonly string[];
}
