import type { Extension } from '../gateway/gateway.js';
import { cacheLedger } from './cache-ledger/index.js';
import { metrics } from './metrics/index.js';
import { opentelemetry } from './opentelemetry/index.js';
import { requests } from './requests/index.js';
import { slotHistory } from './slots/history/index.js';
import { webSockets } from './websockets/index.js';

/** Extensions that a gateway may start with, in the order in which they see the end of a request. */
export const extensions: readonly Extension[] = [
  slotHistory,
  metrics,
  cacheLedger,
  opentelemetry,
  requests,
  webSockets,
];
