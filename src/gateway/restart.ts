import type { Config } from '../config/config.js';

/** Names of changed settings that take effect only at a restart. */
export function needsRestart(started: Config, now: Config): readonly string[] {
  const before = readAtStart(started);
  return Object.entries(readAtStart(now)).flatMap(
    ([key, text]) => (text === before[key as keyof typeof before] ? [] : [key]), // both have the same keys
  );
}

function readAtStart({ listen, store, ledger, live }: Config) {
  const { host, port, workers, trustProxy, headersTimeoutMs, bodyIdleTimeoutMs, maxConnections, backlog } =
    listen;
  const atStart = [
    host,
    port,
    workers,
    trustProxy,
    headersTimeoutMs,
    bodyIdleTimeoutMs,
    maxConnections,
    backlog,
  ];
  const text = { listen: JSON.stringify(atStart), store: JSON.stringify(store) };
  return { ...text, ledger: JSON.stringify(ledger), live: JSON.stringify(live) };
}
