import { audit } from './audit/index.js';
import { explain } from './explain/index.js';
import { keys } from './keys/index.js';
import { login } from './login/index.js';
import { pipeline } from './pipeline/index.js';
import { playground } from './playground/index.js';
import { requests } from './requests/index.js';
import { slots } from './slots/index.js';
import { tokens } from './tokens/index.js';
import { usage } from './usage/index.js';
import type { Feature } from './feature.js';

/** Features of the gateway, in the order of their routes in the API's document. */
export const features: readonly Feature[] = [
  login,
  pipeline,
  explain,
  playground,
  keys,
  tokens,
  audit,
  slots,
  usage,
  requests,
];
