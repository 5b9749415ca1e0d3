import { isGatewayError } from '../../plugin/index.js';
import { isRecord } from '../../kit/schema/record.js';

/** Login that is refused, in words for the page, and for the log: without tokens, codes and secrets. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly reason: string;
  /** True if the provider has failed, not the person. */
  readonly isOutage: boolean;
}

/** Error of this side of a login. */
export class LoginRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string, reason: string) {
    super(message, { cause: reason });
    this.status = status;
  }
}

/** Message for any error of a login; undefined for a fault of the gateway itself. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof LoginRefused)
    return { status: error.status, message: error.message, reason: String(error.cause), isOutage: false };
  if (isGatewayError(error))
    return {
      status: error.status,
      message: error.message,
      reason: error.code,
      isOutage: error.status >= 500,
    };
  const { code, error: named } = Object(error) as { code?: unknown; error?: unknown }; // any object has properties
  if (code === 'OAUTH_AUTHORIZATION_RESPONSE_ERROR') return declined(shortCode(named));
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return rejected(shortCode(named));
  const words = wordsOf(error);
  const isResponse = code === 'OAUTH_INVALID_RESPONSE'; // to everything that comes from the provider
  if (tokenFaults.has(String(code)) || (isResponse && /\bJWT\b/.test(words)))
    return person(
      401,
      `The provider's token is not valid for this login: ${words}.`,
      `${String(code)}: ${words}`,
    );
  if (isResponse && /response parameter/.test(words))
    return person(400, 'This answer does not belong to the login started in this browser.', words);
  if (error instanceof Error)
    return outage(
      'The provider cannot be reached or did not give a usable answer. Try again in a moment.',
      words,
    );
  return undefined;
}

const tokenFaults = new Set([
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
]);

/** The provider reports in the browser that the login failed. */
function declined(code: string): Refusal {
  const message =
    code === 'access_denied'
      ? 'The provider says that access was denied.'
      : `The provider has not signed you in (${code}).`;
  return person(403, message, code);
}

/** Refusal of the exchange of the code by the provider. */
function rejected(code: string): Refusal {
  if (code === 'invalid_grant')
    return person(
      401,
      'The provider does not accept this login: it has already been used, or has expired.',
      code,
    );
  return outage(`The provider refuses this gateway (${code}); an operator has to check panel.oidc.`, code);
}

function person(status: number, message: string, reason: string): Refusal {
  return { status, message, reason, isOutage: false };
}

function outage(message: string, reason: string): Refusal {
  return { status: 502, message, reason, isOutage: true };
}

/** The error code if it has the form of OAuth's; other texts are not shown. */
function shortCode(value: unknown): string {
  return typeof value === 'string' && /^[a-z_]{1,60}$/.test(value) ? value : 'an unknown error';
}

/** Message of an error with the message or the code of its innermost cause, and the name of a wrong claim. */
function wordsOf(error: unknown): string {
  const texts: string[] = [];
  let inner: unknown = error;
  for (let depth = 0; depth < 4 && isRecord(Object(inner)) && inner !== undefined; depth += 1) {
    const { message, code, claim, attribute, cause } = Object(inner) as Readonly<Record<string, unknown>>;
    const text = [message, claim, attribute].find((each) => typeof each === 'string' && each !== '');
    texts.push(...(typeof text === 'string' ? [text] : typeof code === 'string' ? [code] : []));
    inner = cause;
  }
  return [...new Set(texts)].join(': ').slice(0, 300);
}
