/** A key issued to a caller; the key itself is never kept. */
export interface ProtocolKey {
  readonly id: string;
  readonly name: string;
  /** Hex SHA-256 of the whole key. */
  readonly hash: string;
  /** Unix milliseconds; absent: never. */
  readonly expiresAtMs?: number;
  readonly revoked?: boolean;
  /** Catalog ids or globs that it may use; absent: all. */
  readonly models?: readonly string[];
}

/** OAuth tokens of a slot after the last refresh. */
export interface OAuthTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Unix milliseconds; absent: only a 401 refreshes. */
  readonly expiresAtMs?: number;
  /** Hex SHA-256 of the refresh token in the config that these descend from: a new one there starts over. */
  readonly origin: string;
}

/** A session that stays on its slot. */
export interface Binding {
  readonly slotId: string;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
}

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

/** What must survive a restart. Every method may be asynchronous; a read of something absent gives undefined. */
export interface Store {
  readonly keys: {
    findByHash(hash: string): Promise<ProtocolKey | undefined>;
    put(key: ProtocolKey): Promise<void>;
  };
  readonly credentials: {
    get(slotId: string): Promise<OAuthTokens | undefined>;
    put(slotId: string, tokens: OAuthTokens): Promise<void>;
  };
  readonly bindings: {
    /** Undefined also where it has expired. */
    get(stickyKey: string): Promise<Binding | undefined>;
    put(stickyKey: string, binding: Binding): Promise<void>;
    delete(stickyKey: string): Promise<void>;
  };
  readonly responses: {
    get(owner: string, id: string): Promise<StoredResponse | undefined>;
    put(response: StoredResponse): Promise<void>;
    /** False where there was none. */
    delete(owner: string, id: string): Promise<boolean>;
  };
  close(): Promise<void>;
}
