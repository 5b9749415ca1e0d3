import type { IncomingHttpHeaders } from 'node:http';
import type { RequestTrace } from '../../engine/trace/request-trace.js';
import { callerSecrets } from '../../engine/masking/caller-secrets.js';
import { shownCode } from '../../engine/masking/shown-code.js';
import { textMask, type TextMask } from '../../engine/masking/text-mask.js';
import type { Runtime } from '../runtime.js';
import type { Services } from '../services.js';

/** Texts of a gateway that no error text and no log line may contain. */
export interface KnownSecrets {
  readonly ofSlot: (id: string) => readonly string[];
  readonly ofStages: () => readonly string[];
}

/** Current secrets, read at each use: reloads change them. */
export function knownSecrets(
  slots: Services['slots'],
  runtime: () => Pick<Runtime, 'pipeline'>,
): KnownSecrets {
  return { ofSlot: (id) => slots.secretsOf(id), ofStages: () => runtime().pipeline.secrets };
}

/** A request, or the call of a stage, whose texts are to be masked. */
export interface MaskedRequest {
  readonly ctx: { readonly headers: IncomingHttpHeaders };
  readonly state: { readonly trace: Pick<RequestTrace, 'slot' | 'failedCalls'> };
}

/** Mask of the credentials of a request's caller, and of the slots whose errors it may contain. */
export function requestMask({ ctx, state: { trace } }: MaskedRequest, secrets: KnownSecrets): TextMask {
  const slots = new Set([trace.slot, ...trace.failedCalls.list.map(({ call }) => call.slot)]);
  const { cookie, ...headers } = ctx.headers;
  return textMask([
    ...callerSecrets(headers),
    ...[...slots].flatMap((id) => (id === undefined ? [] : secrets.ofSlot(id))),
    ...secrets.ofStages(),
    ...callerSecrets({ cookie }), // the last, for their number is up to the caller, and that of secrets is limited
  ]);
}

/** Masks codes of a request's errors; the mask is made on demand. */
export function shownCodes(exchange: MaskedRequest, secrets: KnownSecrets): (code: string) => string {
  let mask: TextMask | undefined;
  return (code) => shownCode(code, () => (mask ??= requestMask(exchange, secrets)));
}
