import type { Extension } from '../gateway/gateway.js';
import { opentelemetry } from './opentelemetry/index.js';

/** Extensions that a gateway may start with, in the order in which they see the end of a request. */
export const extensions: readonly Extension[] = [opentelemetry];
