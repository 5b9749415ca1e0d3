/** Time limit for a plugin to load, to set up, to start, and to dispose. */
export const pluginTimeoutMs = 10_000;
