export interface Counter {
  add(labels: Readonly<Record<string, string>>, amount?: number): void;
}

export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
}

/** How full something is that is kept in memory. */
export interface CacheStats {
  readonly entries: number;
  /** The most entries there can be. */
  readonly capacity: number;
}

/** Prometheus metrics; a name that exists already gives the same metric. */
export interface Metrics {
  counter(name: string, help: string, labels: readonly string[]): Counter;
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): Histogram;
  /**
   * Shows how full a cache is, as `gw2api_cache_entries` and `gw2api_cache_capacity`, until the pipeline ends; `read` is
   * called at each scrape. Gives the way to stop it.
   */
  cache(name: string, read: () => CacheStats): () => void;
}

/** Caches by name, as `Metrics.cache` takes them. */
export type Caches = Readonly<Record<string, () => CacheStats>>;
