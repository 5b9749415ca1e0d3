import { audit } from './audit/index.js';
import { cacheLedger } from './cache-ledger/index.js';
import { canary } from './canary/index.js';
import { explain } from './explain/index.js';
import { keys } from './keys/index.js';
import { login } from './login/index.js';
import { metrics } from './metrics/index.js';
import { openapi } from './openapi/index.js';
import { opentelemetry } from './opentelemetry/index.js';
import { pipeline } from './pipeline/index.js';
import { playground } from './playground/index.js';
import { requests } from './requests/index.js';
import { replay } from './replay/index.js';
import { slots } from './slots/index.js';
import { slotHistory } from './slots/history/index.js';
import { tests } from './tests/index.js';
import { tokens } from './tokens/index.js';
import { usage } from './usage/index.js';
import { webSockets } from './websockets/index.js';
import type { Feature } from './feature.js';

/**
 * Features of the gateway, in the order of their notifications about ended requests, and of their routes in the API's
 * document.
 */
export const features: readonly Feature[] = [
  login,
  pipeline,
  canary,
  explain,
  playground,
  keys,
  tokens,
  audit,
  slots,
  slotHistory,
  metrics,
  cacheLedger,
  opentelemetry,
  usage,
  requests,
  webSockets,
  tests,
  replay,
  openapi,
];
