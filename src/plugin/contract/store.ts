import type { LedgerSums } from './ledger.js';
import type { KeyLimits, ProtocolKey } from './protocol-key.js';

/** Team of keys, whose limits apply to all of them together, beside those of each. */
export interface Team extends KeyLimits {
  readonly id: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  /** Name of the pipeline of its keys that name none themselves; absent: none. */
  readonly pipeline?: string;
  readonly note?: string;
}

/** OAuth tokens of a slot after the last refresh. */
export interface OAuthTokens {
  readonly accessToken: string;
  /** Empty if further tokens are granted without one. */
  readonly refreshToken: string;
  /** Unix milliseconds; absent: only a 401 refreshes. */
  readonly expiresAtMs?: number;
  /** Hex SHA-256 of the source of these, such as the refresh token in the config: a new one there starts over. */
  readonly origin: string;
}

/** A stored answer of the Responses format. */
export interface StoredResponse {
  readonly id: string;
  /** The key id of the caller that may read it. */
  readonly owner: string;
  /** All input items that led to it, including those of earlier responses. */
  readonly input: readonly unknown[];
  /** The response object as the caller got it. */
  readonly response: Readonly<Record<string, unknown>>;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

/** Quota of stored responses of one owner. */
export interface ResponseQuota {
  /** Max size of all responses together, as JSON in UTF-8. */
  readonly bytes: number;
  readonly count: number;
  /** Max size of one response with its input; absent: as `bytes`. */
  readonly eachBytes?: number;
}

/**
 * Part of the persistent state for plugins, which survives a restart. Reading an absent item returns undefined, `put`
 * replaces the item with the same id, `delete` returns false if there was none.
 */
export interface PluginStore {
  /** True while the store is unreachable; requests continue without it. */
  readonly isDown: boolean;
  readonly keys: {
    /** By the hash of its secret or of a former one, which may have ended. */
    findByHash(hash: string): Promise<ProtocolKey | undefined>;
    get(id: string): Promise<ProtocolKey | undefined>;
    /** Newest first. */
    list(): Promise<readonly ProtocolKey[]>;
    /** Names by id, of all keys and of the latest 10,000 deleted ones. */
    names(): Promise<ReadonlyMap<string, string>>;
  };
  readonly teams: {
    /** Ordered by name. */
    list(): Promise<readonly Team[]>;
    get(id: string): Promise<Team | undefined>;
    /** Names by id, of all teams and of the latest deleted ones. */
    names(): Promise<ReadonlyMap<string, string>>;
  };
  readonly responses: {
    get(owner: string, id: string): Promise<StoredResponse | undefined>;
    /** Response object alone, since its input may be much larger. */
    getResponse(owner: string, id: string): Promise<StoredResponse['response'] | undefined>;
    /**
     * Stores a response, and deletes the oldest of its owner beyond `quota`. Returns false, and stores
     * nothing, if it is larger than a single response may be.
     */
    put(response: StoredResponse, quota?: ResponseQuota): Promise<boolean>;
    delete(owner: string, id: string): Promise<boolean>;
  };
  readonly ledger: LedgerSums;
}
