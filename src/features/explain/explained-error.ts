import { isGatewayError } from '../../plugin/index.js';
import type { ExplainedError } from './explanation.js';
import { shownText } from '../dry-run/shown.js';

/** Error in the words that a report has for it. */
export function errorOf(error: unknown): ExplainedError {
  if (isGatewayError(error)) return { code: error.code, message: shownText(error.message) };
  return { code: 'internal', message: shownText(error instanceof Error ? error.message : String(error)) };
}
