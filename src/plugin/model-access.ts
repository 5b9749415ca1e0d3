import { globMatcher } from './glob.js';
import type { Caller } from './contract/state.js';

/**
 * True if a caller may use a model, by its catalog id; a model that no catalog knows goes by the name that
 * was sent.
 */
export function mayUseModel({ models }: Pick<Caller, 'models'>, id: string): boolean {
  return !models || globMatcher(models)(id);
}
