/** How long a plugin may take to load, to set up, and to dispose what it has set up. */
export const pluginTimeoutMs = 10_000;
