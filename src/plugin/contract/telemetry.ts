/** The part of pino that plugins use. Never log a secret or a body. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

/** Counter with one time series for each set of labels. */
export interface Counter {
  /** Adds `amount`, by default 1. */
  add(labels: Readonly<Record<string, string>>, amount?: number): void;
}

/** Histogram with one time series for each set of labels. */
export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
}

/** Fill level of an in-memory cache. */
export interface CacheStats {
  readonly entries: number;
  /** Max entries. */
  readonly capacity: number;
}

/** Prometheus metrics; an existing name returns the same metric. */
export interface Metrics {
  counter(name: string, help: string, labels: readonly string[]): Counter;
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram;
  /**
   * Reports the fill level of a cache, as `gw2api_cache_entries` and `gw2api_cache_capacity`, until the
   * pipeline ends; `read` is called at each scrape. Returns the function that stops it.
   */
  cache(name: string, read: () => CacheStats): () => void;
}

/** Readers of the fill levels of caches, by the cache's name. */
export type Caches = Readonly<Record<string, () => CacheStats>>;
