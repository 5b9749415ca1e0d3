import type { Caches } from './metrics.js';
import type { KeyLimits } from './key-limits.js';
import type { Ledger } from './ledger.js';
import type { Json } from './live.js';

/** A key issued to a caller; the key itself is never kept. */
export interface ProtocolKey extends KeyLimits {
  readonly id: string;
  readonly name: string;
  /** Hex SHA-256 of the whole key. */
  readonly hash: string;
  /** The key's last four characters, to tell it from others. */
  readonly last4: string;
  /** Unix milliseconds, as all times of it. */
  readonly createdAtMs: number;
  /** Behind by some seconds: it is written in batches. */
  readonly lastUsedAtMs?: number;
  /** Absent: never. */
  readonly expiresAtMs?: number;
  /** Present: it is not let in any more. */
  readonly revokedAtMs?: number;
  /** Catalog ids or globs that it may use; absent: all. */
  readonly models?: readonly string[];
  readonly note?: string;
}

type Settable = Omit<ProtocolKey, 'id' | 'hash' | 'last4' | 'createdAtMs' | 'lastUsedAtMs'>;

/** What an operator changes of a key; null takes a field away. */
export type KeyPatch = { readonly [Field in keyof Settable]?: Settable[Field] | null } & {
  readonly name?: string;
};

/** OAuth tokens of a slot after the last refresh. */
export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Unix milliseconds; absent: only a 401 refreshes. */
  readonly expiresAtMs?: number;
  /** Hex SHA-256 of the refresh token in the config that these descend from: a new one there starts over. */
  readonly origin: string;
}

/** A slot that was entered in the console; encrypted at rest, for also a header or a proxy may hold a secret. */
export interface StoredSlot {
  readonly id: string;
  /** As under `slots:` in the config file, without `id` and `account`. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** As `account:` in the config file; never to be shown again. */
  readonly account: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Why what is stored cannot be read, in a sentence for the operator; `settings` and `account` are empty then. */
  readonly problem?: string;
}

/** A console login; neither its token nor its CSRF token is kept, only their hex SHA-256. */
export interface ConsoleSession {
  readonly tokenHash: string;
  readonly csrfHash: string;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A session that stays on its slot. */
export interface Binding {
  readonly slotId: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** One piece of the state of slots, under a key of the pool's own. */
export interface StoredState {
  readonly key: string;
  readonly value: Json;
  /** The rest of its lifetime; absent: it has no end. A duration, since the clocks of instances differ. */
  readonly ttlMs?: number;
}

/** A state to write; without a value: to delete. */
export type StateChange = Pick<StoredState, 'key' | 'ttlMs'> & { readonly value: Json | undefined };

/** A stored answer of the Responses format. */
export interface StoredResponse {
  readonly id: string;
  /** The key id of the caller that may read it. */
  readonly owner: string;
  /** All input items that led to it, those of the responses before it included. */
  readonly input: readonly unknown[];
  /** The response object as the caller got it. */
  readonly response: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** The most that one owner may keep of responses. */
export interface ResponseQuota {
  /** Of all responses together, as JSON in UTF-8. */
  readonly bytes: number;
  readonly count: number;
  /** Of a single response with its input; absent: as many as all together. */
  readonly eachBytes?: number;
}

/** The responses that one owner keeps at the moment. */
export type ResponseTotal = Pick<ResponseQuota, 'bytes' | 'count'>;

/** What ends by itself: a read of something expired gives undefined, and it is deleted in small steps. */
export interface Expiring {
  /** Deletes at most `limit` of what has expired by now. Gives how many. */
  deleteExpired(limit: number): Promise<number>;
}

/**
 * What must survive a restart. Every method may be asynchronous; a read of something absent gives undefined. `put`
 * replaces what has the same id; `delete` gives false where there was nothing.
 */
export interface Store {
  /** It cannot be reached at the moment: requests go on without it. */
  readonly isAway: boolean;
  /** What it keeps in memory, to be measured. */
  readonly caches?: Caches;
  readonly keys: {
    findByHash(hash: string): Promise<ProtocolKey | undefined>;
    get(id: string): Promise<ProtocolKey | undefined>;
    /** Newest first. */
    list(): Promise<readonly ProtocolKey[]>;
    put(key: ProtocolKey): Promise<void>;
    /** The key as it is then; undefined where there is none. */
    update(id: string, patch: KeyPatch): Promise<ProtocolKey | undefined>;
    /** Its name stays known, for the requests that were made with it. */
    delete(id: string): Promise<boolean>;
    /** Names by id: those of all keys, and of the latest 10,000 that were deleted. */
    names(): Promise<ReadonlyMap<string, string>>;
    /** Notes when keys were used, unix milliseconds by id; a time before the one known changes nothing. */
    touch(usedAtMs: ReadonlyMap<string, number>): Promise<void>;
  };
  readonly credentials: {
    get(slotId: string): Promise<OAuthTokens | undefined>;
    put(slotId: string, tokens: OAuthTokens): Promise<void>;
    delete(slotId: string): Promise<boolean>;
  };
  readonly slots: {
    /** In the order of their ids. */
    list(): Promise<readonly StoredSlot[]>;
    get(id: string): Promise<StoredSlot | undefined>;
    put(slot: StoredSlot): Promise<void>;
    /** The slot as it is then; undefined where there is none. */
    update(
      id: string,
      patch: Partial<Pick<StoredSlot, 'settings' | 'account'>> & Pick<StoredSlot, 'updatedAtMs'>,
    ): Promise<StoredSlot | undefined>;
    delete(id: string): Promise<boolean>;
  };
  /** The state of slots that a restart is to find again; of two writes of one key the last one counts. */
  readonly slotStates: Expiring & {
    list(): Promise<readonly StoredState[]>;
    /** All of them, or none. */
    write(changes: readonly StateChange[]): Promise<void>;
  };
  readonly sessions: Expiring & {
    get(tokenHash: string): Promise<ConsoleSession | undefined>;
    put(session: ConsoleSession): Promise<void>;
    delete(tokenHash: string): Promise<boolean>;
  };
  readonly bindings: Expiring & {
    get(stickyKey: string): Promise<Binding | undefined>;
    put(stickyKey: string, binding: Binding): Promise<void>;
    delete(stickyKey: string): Promise<void>;
    /** How many sessions are bound to each slot at the moment, by its id; a slot that has none is left out. */
    countBySlot(): Promise<ReadonlyMap<string, number>>;
  };
  readonly responses: Expiring & {
    get(owner: string, id: string): Promise<StoredResponse | undefined>;
    /** The response object alone: the input may be a thousand times its size. */
    getResponse(owner: string, id: string): Promise<StoredResponse['response'] | undefined>;
    /**
     * Deletes the oldest responses of its owner where there are more than `quota` allows. False: this one is larger than a
     * single response may be, and is not kept.
     */
    put(response: StoredResponse, quota?: ResponseQuota): Promise<boolean>;
    delete(owner: string, id: string): Promise<boolean>;
    /** By owner; one without responses is left out. */
    totals(): Promise<ReadonlyMap<string, ResponseTotal>>;
  };
  readonly ledger: Ledger;
  /** Gives up to so many free pages of its file back to the file system, and says how many; absent: it has no file. */
  readonly reclaim?: (pages: number) => Promise<number>;
  close(): Promise<void>;
}
