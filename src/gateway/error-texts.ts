import type { Exchange } from '../http/exchange.js';
import { callerSecrets } from '../masking/caller-secrets.js';
import { textMask } from '../masking/text-mask.js';
import { readProperty, type ErrorTexts, type GatewayError } from '../plugin/internal.js';

/** Texts that may not stand in an error text. */
export interface KnownSecrets {
  readonly ofSlot: (id: string) => readonly string[];
  readonly ofStages: () => readonly string[];
}

/** Characters that are kept of an error. */
const maxLength = 300;

/**
 * Error texts of a failed request, without the credentials of its caller and of the slots that it has called;
 * undefined where no error is known.
 */
export function errorTextsOf({ ctx, state }: Exchange, secrets: KnownSecrets): ErrorTexts | undefined {
  const { failure, refusal, failedCalls, calls } = state.trace;
  const failed = failedCalls.list;
  const slots = new Set([state.trace.slot, ...failed.map(({ call }) => call.slot)]);
  const { cookie, ...headers } = ctx.headers;
  const mask = textMask([
    ...callerSecrets(headers),
    ...[...slots].flatMap((id) => (id === undefined ? [] : secrets.ofSlot(id))),
    ...secrets.ofStages(),
    ...callerSecrets({ cookie }), // the last, for their number is up to the caller, and that of secrets is limited
  ]);
  const textOf = (error: GatewayError): string => mask(messageOf(error), maxLength);
  const ofCalls = failed
    .map(({ call, error }) => ({ call: calls.indexOf(call), text: textOf(error) }))
    .filter(({ text }) => text !== '');
  const last = failure ?? refusal;
  const text = (last && textOf(last)) || ofCalls.at(-1)?.text;
  return text ? { text, calls: ofCalls } : undefined;
}

/** Message of an error that a plugin may have made. */
function messageOf(error: GatewayError): string {
  const message = readProperty(error, 'message');
  return typeof message === 'string' ? message : '';
}
