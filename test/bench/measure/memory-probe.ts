/** Preloaded into a gateway: says what it holds when its parent asks, after a collection. */
process.on('message', (message) => {
  if (message !== 'memory') return;
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.channel?.unref();
