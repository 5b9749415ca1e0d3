import type { CatalogModel, Operation, WireFormat } from '../plugin/index.js';

/** Where something stands in a config file; line and column from 1. */
export interface Position {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Only requests that match every given part pass the stage. */
export interface When {
  readonly format?: readonly WireFormat[];
  /** Globs over the catalog id. */
  readonly model?: readonly string[];
  readonly operation?: readonly Operation[];
  /** Globs over the caller's key id or name; `master` is the master key. */
  readonly caller?: readonly string[];
}

export interface StageConfig {
  /** A built-in name, a path relative to the config file, or an npm package. */
  readonly use: string;
  readonly enabled: boolean;
  readonly with: Readonly<Record<string, unknown>>;
  /** `with` as the file has it, with nothing of the environment in it. */
  readonly written: Readonly<Record<string, unknown>>;
  readonly when: When | undefined;
  /** What is wrong with the entry has been told: of it only `use` is looked at. */
  readonly isBroken?: boolean;
  /** `pipeline[3]`. */
  readonly path: string;
  /** Where the entry stands. */
  readonly at: Position;
  /** Where a key within the entry stands: `positionOf(['with', 'cap'])`; the nearest enclosing one where it is absent. */
  readonly positionOf: (path: readonly (string | number)[]) => Position;
}

export type AccountConfig =
  | { readonly kind: 'none' }
  | { readonly kind: 'api-key'; readonly key: string; readonly header: 'x-api-key' | 'authorization' }
  | {
      readonly kind: 'oauth';
      readonly accessToken: string;
      readonly refreshToken: string;
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret?: string;
      /** Unix milliseconds; absent: only a 401 refreshes. */
      readonly expiresAtMs?: number;
    };

export interface SlotConfig {
  readonly id: string;
  /** An adapter: `messages` or `simulator`. */
  readonly upstream: string;
  readonly baseUrl?: string;
  readonly account: AccountConfig;
  /** Globs over catalog ids; `*` also lets models through that the catalog lacks. */
  readonly models: readonly string[];
  readonly maxConcurrent: number;
  readonly weight: number;
  readonly proxy?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** Entered in the console: it must not connect to link-local and metadata addresses. */
  readonly isGuarded?: boolean;
  readonly path: string;
  readonly at: Position;
}

export type StoreConfig =
  | { readonly kind: 'memory' }
  | {
      readonly kind: 'sqlite';
      /** Absolute. */
      readonly file: string;
    }
  | { readonly kind: 'postgres'; readonly url: string };

/** Where the instances of a gateway meet. */
export interface RedisAddress {
  /** Host and port: fit to be logged. */
  readonly label: string;
  /** What all keys begin with. */
  readonly prefix: string;
  readonly access: {
    readonly host: string;
    readonly port: number;
    readonly db: number;
    readonly username?: string;
    readonly password?: string;
    readonly tls?: { readonly servername: string };
  };
}

/** A checked config: everything is present, typed and in base units. */
export interface Config {
  /** As given on the command line: it stands in messages. */
  readonly file: string;
  /** Absolute; relative paths in the config start here. */
  readonly baseDir: string;
  readonly listen: {
    readonly host: string;
    readonly port: number;
    /** How many processes serve that address; `auto`: one for each core. */
    readonly workers: number | 'auto';
    /** Believe `x-forwarded-*`. */
    readonly trustProxy: boolean;
    /** The time for which requests are served after SIGTERM. */
    readonly drainDelayMs: number;
    readonly shutdownTimeoutMs: number;
    /** Time limit for all headers of a request, from the first byte of the connection or of the request. */
    readonly headersTimeoutMs: number;
    /** Longest silence within a request's body; after it the body must also have come at 1 kB/s on average. */
    readonly bodyIdleTimeoutMs: number;
    /** Open connections of one process; further ones are closed at once. */
    readonly maxConnections: number;
    /** Connections that the system holds until they are accepted. */
    readonly backlog: number;
  };
  readonly pipeline: readonly StageConfig[];
  readonly slots: readonly SlotConfig[];
  readonly models: readonly CatalogModel[];
  readonly store: StoreConfig;
  /** Where `store` stands. */
  readonly storeAt: Position;
  readonly ledger: {
    readonly keepDays: number;
    /** Absolute: where rows wait while the store is away; undefined: nowhere. */
    readonly spool: string | undefined;
  };
  readonly live: { readonly kind: 'memory' } | ({ readonly kind: 'redis' } & RedisAddress);
  /** Permissions of slots entered in the console. */
  readonly console: { readonly allowLinkLocal: boolean };
  readonly officialClient: { readonly userAgent: string };
  /** What the file says, with nothing of the environment in it; it may hold secrets. */
  readonly written: unknown;
}

/** Something wrong with a config, said so that it can be mended. */
export interface Problem {
  readonly at: Position;
  /** `pipeline[3].with.cap`; empty for the file as a whole. */
  readonly path: string;
  /** The stage that the message is about: it then reads on from its name. */
  readonly subject?: string;
  /** What is wrong; what to do. */
  readonly message: string;
}

/** All that is wrong with a config at once; its message has one line a problem, as they stand in the file. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const sorted = problems.toSorted(byPlace);
    super(sorted.map(formatProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = sorted;
  }
}

function byPlace({ at: a }: Problem, { at: b }: Problem): number {
  return a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
}

/**
 * `config/gateway.yaml:14:5 pipeline[3].with.cap: must be a whole number, not a string; write it without quotes`, or, about
 * a stage as a whole, `config/gateway.yaml:14:5 pipeline[3] "usage-mask" needs "reply", which no stage provides; …`.
 */
export function formatProblem({ at, path, subject, message }: Problem): string {
  const what = subject === undefined ? path && `${path}: ` : `${path} "${subject}" `;
  return `${at.file}:${at.line}:${at.column} ${what}${message}`;
}

/** The problems of a refused config as sentences; anything else is thrown on. */
export function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems.map(formatProblem);
  throw error;
}
