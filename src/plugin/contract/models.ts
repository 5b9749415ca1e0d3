/** A model of the catalog file, defaults filled in. */
export interface CatalogModel {
  readonly id: string;
  readonly displayName: string;
  readonly upstreamModel: string;
  /** Cap of `max_tokens`, thinking included. */
  readonly maxTokens: number;
  readonly contextWindow?: number;
  /** False: `tool_choice` of any, tool or required is not native (contract §4.4). */
  readonly forcedToolChoice: boolean;
  /**
   * The part that the upstream takes of `temperature` and `top_p`: `both` (or true), one of the two, or none, which holds for
   * `top_k` too (or false).
   */
  readonly sampling: boolean | 'both' | 'one' | 'none';
  readonly thinking: 'adaptive' | 'budget' | 'none';
  readonly webSearch: boolean;
  readonly aliases: readonly string[];
  /** Unix seconds. */
  readonly created: number;
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
  /** The levels of `output_config.effort` that it takes. */
  readonly efforts?: readonly string[];
}

export interface Models {
  /**
   * By id, by alias, or by the vendor's longer name of an id (`claude-sonnet-5-20260101` for `sonnet-5`), which stands
   * in `upstreamModel` then: a dated name goes up as it was written.
   */
  find(name: string): CatalogModel | undefined;
  list(): readonly CatalogModel[];
  /**
   * The profile of any model: the catalog's, else what the upstreams list of it, each corrected by what `learn` was
   * told. Empty where nothing is known; never waits.
   */
  profile(name: string): ModelProfile;
  /** Keeps what an upstream's refusal says of a model; a bounded number of models, in this process. */
  learn(name: string, profile: ModelProfile): void;
}
