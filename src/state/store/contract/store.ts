import type { Caches, KeySecret, PluginStore, Team } from '../../../plugin/core.js';
import type { Json, ProtocolKey, ResponseQuota } from '../../../plugin/index.js';
import type { OAuthTokens } from '../../../plugin/upstream/index.js';
import type { Ledger } from '../../ledger/contract.js';
import type { ErrorTextStore } from '../../ledger/error-texts.js';
import type { Actor } from './actor.js';
import type { AdminTokens } from './admin-token.js';
import type { AuditLog } from './audit.js';
import type { SlotHistory } from './slot-history.js';
import { type StepResult } from '../../step-result.js';

/** Slot entered in the console; encrypted at rest, because a header or a proxy may hold a secret too. */
export interface StoredSlot {
  readonly id: string;
  /** Entry in the form of `slots:` in the config file, without `id` and `account`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Account in the form of `account:` in the config file; must never be shown again. */
  readonly account: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /**
   * Reason why the stored slot cannot be read, in a sentence for the operator; `settings` and `account` are
   * then empty.
   */
  readonly problem?: string;
}

/** A person as identified by an OpenID provider: unlike a name, the identifier is not chosen and never reused. */
export interface Subject {
  readonly issuer: string;
  readonly id: string;
}

/** A console login, stored without its token and its CSRF token, only with their hex SHA-256. */
export interface ConsoleSession {
  readonly tokenHash: string;
  readonly csrfHash: string;
  /** Its role is fixed until the next login. */
  readonly actor: Actor;
  /** The person for the OpenID provider; absent with the password, and in sessions of older versions. */
  readonly subject?: Subject;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** Time of the last request, late by up to a minute; absent: none since the login. */
  readonly lastSeenAtMs?: number;
  /** Address and user agent of the login, as the browser sent them. */
  readonly address?: string;
  readonly userAgent?: string;
}

/** Binding of a sticky session to its slot. */
export interface Binding {
  readonly slotId: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Part of the state of slots, under a key chosen by the pool. */
export interface StoredState {
  readonly key: string;
  readonly value: Json;
  /** Remaining lifetime; absent: no expiry. A duration, since the clocks of instances differ. */
  readonly ttlMs?: number;
}

/** State to write, or to delete if it has no value. */
export type StateChange = Pick<StoredState, 'key' | 'ttlMs'> & { readonly value: Json | undefined };

/** Collection with expiry: an expired item reads as undefined, and is deleted in small steps. */
export interface Expiring {
  /** Deletes at most `limit` expired items. */
  deleteExpired(limit: number): Promise<StepResult>;
}

/** Value in a space, as JSON text. */
export interface SpaceEntry {
  readonly key: string;
  readonly text: string;
}

/** Key-value spaces of plugins, each with a name. */
export interface Spaces extends Expiring {
  get(space: string, key: string): Promise<string | undefined>;
  /** Returns false, and stores nothing, if the space has `maxKeys` other keys. `expiresAtMs`: absent: never. */
  put(
    space: string,
    entry: SpaceEntry & { readonly expiresAtMs?: number },
    maxKeys: number,
  ): Promise<boolean>;
  delete(space: string, key: string): Promise<boolean>;
  /** Ordered by key, from after the key `after`. */
  list(space: string, query: SpaceQuery): Promise<readonly SpaceEntry[]>;
}

export interface SpaceQuery {
  readonly prefix: string;
  readonly after?: string;
  readonly limit: number;
}

type Settable = Omit<ProtocolKey, keyof KeySecret | 'id' | 'createdAtMs' | 'lastUsedAtMs' | 'formerSecrets'>;

/** Changes to a key by an operator; null removes a field. */
export type KeyPatch = { readonly [Field in keyof Settable]?: Settable[Field] | null } & {
  readonly name?: string;
};

/** Changes to a team by an operator; null removes a field. */
export type TeamPatch = {
  readonly [Field in Exclude<keyof Team, 'id' | 'name' | 'createdAtMs'>]?: Team[Field] | null;
} & { readonly name?: string };

/** Current total of the stored responses of one owner. */
export type ResponseTotal = Pick<ResponseQuota, 'bytes' | 'count'>;

/** Persistent state, which survives a restart; plugins see less of it. */
export interface Store extends PluginStore {
  /** In-memory caches, for metrics. */
  readonly caches?: Caches;
  readonly keys: PluginStore['keys'] & {
    put(key: ProtocolKey): Promise<void>;
    /** Returns the updated key; undefined if there is none. */
    update(id: string, patch: KeyPatch): Promise<ProtocolKey | undefined>;
    /**
     * Replaces the secret of a key. That one and its former ones end at `endsAtMs` at the latest; ended ones, and those
     * before the latest ten, are dropped; returns the updated key, undefined if there is none.
     */
    rotate(id: string, secret: KeySecret, endsAtMs: number): Promise<ProtocolKey | undefined>;
    /** Keys, neither revoked nor expired, that name a pipeline other than these (not empty); newest first, at most `limit`. */
    ofOtherPipelines(pipelines: readonly string[], limit: number): Promise<readonly ProtocolKey[]>;
    /** Deletes a key, but keeps its name for the requests that were made with it. */
    delete(id: string): Promise<boolean>;
    /**
     * Updates the last use of keys, unix milliseconds by id; an earlier time than the known one changes
     * nothing.
     */
    touch(usedAtMs: ReadonlyMap<string, number>): Promise<void>;
  };
  readonly teams: PluginStore['teams'] & {
    put(team: Team): Promise<void>;
    /** Returns the updated team; undefined if there is none. */
    update(id: string, patch: TeamPatch): Promise<Team | undefined>;
    /** Teams that name a pipeline other than these (not empty); by name, at most `limit`. */
    ofOtherPipelines(pipelines: readonly string[], limit: number): Promise<readonly Team[]>;
    /** Deletes a team that no key belongs to, but keeps its name for the requests of its keys. */
    delete(id: string): Promise<boolean>;
  };
  readonly credentials: {
    get(slotId: string): Promise<OAuthTokens | undefined>;
    put(slotId: string, tokens: OAuthTokens): Promise<void>;
    delete(slotId: string): Promise<boolean>;
  };
  readonly slots: {
    /** Ordered by id. */
    list(): Promise<readonly StoredSlot[]>;
    get(id: string): Promise<StoredSlot | undefined>;
    put(slot: StoredSlot): Promise<void>;
    /** Returns the updated slot; undefined if there is none. */
    update(
      id: string,
      patch: Partial<Pick<StoredSlot, 'settings' | 'account'>> & Pick<StoredSlot, 'updatedAtMs'>,
    ): Promise<StoredSlot | undefined>;
    delete(id: string): Promise<boolean>;
  };
  /** Slot state kept across restarts; the last write of a key wins. */
  readonly slotStates: Expiring & {
    list(): Promise<readonly StoredState[]>;
    /** Writes all changes or none. */
    write(changes: readonly StateChange[]): Promise<void>;
  };
  readonly sessions: Expiring & {
    get(tokenHash: string): Promise<ConsoleSession | undefined>;
    /** Newest first. */
    list(): Promise<readonly ConsoleSession[]>;
    /**
     * Stores a session, and ends those of its person with another role in the same step, also if several begin at once.
     * Returns the number of ended sessions.
     */
    put(session: ConsoleSession): Promise<number>;
    /** Sets the time of the last request; an earlier one than the known changes nothing. */
    touch(tokenHash: string, seenAtMs: number): Promise<void>;
    delete(tokenHash: string): Promise<boolean>;
  };
  readonly bindings: Expiring & {
    get(stickyKey: string): Promise<Binding | undefined>;
    put(stickyKey: string, binding: Binding): Promise<void>;
    delete(stickyKey: string): Promise<void>;
    /** Number of sessions bound to each slot, by slot id; a slot without any is left out. */
    countBySlot(): Promise<ReadonlyMap<string, number>>;
  };
  readonly responses: PluginStore['responses'] &
    Expiring & {
      /** Totals by owner; an owner without responses is left out. */
      totals(): Promise<ReadonlyMap<string, ResponseTotal>>;
    };
  readonly ledger: Ledger;
  /**
   * Returns free pages of the file to the file system, at most `pages`; absent if there is no file.
   */
  readonly reclaim?: (pages: number) => Promise<StepResult>;
  close(): Promise<void>;
}

/** The whole store, as the gateway opens it. */
export interface WholeStore extends Store {
  readonly spaces: Spaces;
  readonly errorTexts: ErrorTextStore;
  readonly slotHistory: SlotHistory;
  readonly audit: AuditLog;
  readonly adminTokens: AdminTokens;
  /** Sums `limit` hours of the ledger at most, from before `beforeMs`, by pairs of groups. */
  readonly sumPairs?: (beforeMs: number, limit: number) => Promise<StepResult>;
  /** Runs `begin(data)` of the module at `url` in the thread of the store; absent if it has none. */
  readonly runModule?: (url: string, data: unknown) => void;
}
