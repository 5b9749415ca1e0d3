import { narrowedForMessages, type ModelProfile } from '@gw2api/gateway/plugin/upstream';
import type { Loss, MessagesRequest, SlotCall } from '@gw2api/gateway/plugin';

/** Call of a translated request. */
export function callOf(request: MessagesRequest): SlotCall {
  return {
    request,
    isTranslated: true,
    headers: {},
    search: '',
    signal: new AbortController().signal,
    headersTimeoutMs: 1000,
    idleTimeoutMs: 1000,
  };
}

/** A translated request as a Messages service of this model gets it, and the paths of what is reported. */
export function narrowed(
  request: MessagesRequest,
  profile: ModelProfile = {},
  without: ReadonlySet<string> = new Set(),
): { readonly request: MessagesRequest; readonly losses: readonly string[] } {
  const losses: (string | Loss)[] = [];
  const report = (found: readonly (string | Loss)[]): void => void losses.push(...found);
  const { request: sent } = narrowedForMessages({ ...callOf(request), profile, without, report });
  return { request: sent, losses: losses.map((loss) => (typeof loss === 'string' ? loss : loss.path)) };
}
