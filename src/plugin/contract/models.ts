/** Price of a model in USD per million tokens. Tokens of a sort without a price have an unknown cost. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite5m?: number;
  readonly cacheWrite1h?: number;
}

/** A model of the catalog file, defaults filled in. */
export interface CatalogModel {
  readonly id: string;
  readonly displayName: string;
  readonly upstreamModel: string;
  /** Cap of `max_tokens`, thinking included. */
  readonly maxTokens: number;
  readonly contextWindow?: number;
  /** False: `tool_choice` of any, tool or required is not native, and the stage `tool-choice` approximates it. */
  readonly forcedToolChoice: boolean;
  /**
   * Sampling that Messages upstreams take, by default `one`: `temperature` and `top_p` (`both` or true), one of the two,
   * or none (or false), `top_k` included.
   */
  readonly sampling: boolean | 'both' | 'one' | 'none';
  readonly thinking: 'adaptive' | 'budget' | 'none';
  readonly webSearch: boolean;
  readonly aliases: readonly string[];
  /** Unix seconds. */
  readonly created: number;
  /** Absent: unknown. */
  readonly price?: Price;
}

/** Limits and capabilities of a model, as far as they are known. */
export interface ModelProfile {
  /** Cap of `max_tokens`, thinking included. */
  readonly maxTokens?: number;
  /** Tokens. */
  readonly contextWindow?: number;
  readonly thinking?: CatalogModel['thinking'];
  /** False: `thinking: { type: disabled }` is refused. */
  readonly canStopThinking?: boolean;
  /** Supported levels of `output_config.effort`. */
  readonly efforts?: readonly string[];
  /** Sampling parameters of a Messages upstream; absent: unknown. */
  readonly sampling?: CatalogModel['sampling'];
}

export interface Models {
  /**
   * Finds a model by id, alias, upstream name, or the vendor's longer name of an id (`claude-sonnet-5-20260101`
   * for `sonnet-5`). A longer name is kept in `upstreamModel`, so that a dated name goes upstream as written.
   */
  find(name: string): CatalogModel | undefined;
  /**
   * Catalog id of a model, by any name that `find` knows. A longer name that goes upstream as written is kept, as is an
   * unknown one.
   */
  idOf(name: string): string;
  list(): readonly CatalogModel[];
  /** Models of the catalog, and those that slots with `models: discover` have found at their upstreams. */
  listed(): readonly CatalogModel[];
  /**
   * Profile of any model: the catalog's, else that listed by the upstreams, each corrected by `learn`. Empty
   * if nothing is known; never waits.
   */
  profile(name: string): ModelProfile;
  /** Stores a limit that an upstream's refusal names; for a bounded number of models, in this process. */
  learn(name: string, profile: ModelProfile): void;
}
