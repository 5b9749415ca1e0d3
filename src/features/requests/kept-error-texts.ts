import { readProperty } from '../../engine/trace/plugin-place.js';
import type { ErrorTexts } from '../../state/ledger/error-texts.js';
import type { GatewayError } from '../../plugin/index.js';
import type { Writable } from '../../kit/writable.js';
import type { RequestTrace } from '../../engine/trace/request-trace.js';
import type { AppendedRow } from '../../state/ledger/contract.js';
import type { Gateway } from '../../gateway/gateway.js';
import {
  knownSecrets,
  requestMask,
  type KnownSecrets,
  type MaskedRequest,
} from '../../gateway/settle/request-mask.js';

/** Characters that are kept of an error. */
const maxLength = 300;

/** Request, or call of a stage, that may have failed. */
interface FailedWork extends MaskedRequest {
  readonly state: { readonly trace: RequestTrace };
}

/** Makes the function that adds the error texts of a failed request to its appended row. */
export function errorTextKeeper(gateway: Gateway): (ended: FailedWork, row: Writable<AppendedRow>) => void {
  const secrets = knownSecrets(gateway.services.slots, () => gateway.runtime);
  return (ended, row) => {
    const texts = row.failed ? errorTextsOf(ended, secrets) : undefined;
    if (texts) row.errorTexts = texts;
  };
}

/**
 * Error texts of a failed request, without the credentials of its caller and of the slots that it has called;
 * undefined if no error is known.
 */
function errorTextsOf({ ctx, state }: FailedWork, secrets: KnownSecrets): ErrorTexts | undefined {
  const { failure, refusal, failedCalls, calls } = state.trace;
  const failed = failedCalls.list;
  const mask = requestMask({ ctx, state }, secrets);
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
