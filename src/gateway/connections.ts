import type { Services } from './services.js';

/** Counts connections above the max, and logs them at most once a minute. */
export function refusedConnections(services: Services, maxConnections: number): () => void {
  const metric = {
    name: 'gw2api_connections_refused_total',
    help: 'Connections closed at once because listen.maxConnections were open.',
  };
  const message = 'Too many connections are open; further ones are closed at once.';
  return counted(services, metric, { fields: { maxConnections }, message });
}

/** Counts answers that were ended because their callers did not read them, and logs them at most once a minute. */
export function idleCallers(services: Services): () => void {
  const metric = {
    name: 'gw2api_callers_idle_total',
    help: 'Answers ended because their callers did not read them for listen.callerIdleTimeout.',
  };
  const message =
    'Callers have not read their answers for listen.callerIdleTimeout; their connections are closed.';
  return counted(services, metric, { fields: {}, message });
}

function counted(
  { metrics, log, now }: Services,
  { name, help }: { readonly name: string; readonly help: string },
  { fields, message }: { readonly fields: object; readonly message: string },
): () => void {
  const counter = metrics.counter(name, help, []);
  let loggedMs = -Infinity;
  return () => {
    counter.add({});
    if (now() - loggedMs < 60_000) return;
    loggedMs = now();
    log.warn(fields, message);
  };
}
