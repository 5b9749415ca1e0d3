import type { UpstreamAdapter } from '../plugin/index.js';
import messages from './messages.js';
import { simulatorAdapter } from './simulator/adapter.js';

/** The built-in adapters by kind. */
export function upstreamAdapters(): ReadonlyMap<string, UpstreamAdapter> {
  const adapters = [messages, simulatorAdapter(messages)];
  return new Map(adapters.map((adapter) => [adapter.kind, adapter]));
}
