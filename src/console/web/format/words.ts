import type { UsageBucket } from '../api/ledger.js';

/** Short names of the formats, for narrow places. */
export const shortFormatWords: Readonly<Record<string, string>> = {
  messages: 'Messages',
  chat: 'Chat',
  responses: 'Responses',
  completions: 'Completions',
};

export const formatWords: Readonly<Record<string, string>> = {
  messages: 'Messages',
  chat: 'Chat Completions',
  responses: 'Responses',
  completions: 'Completions',
};

/** Explanation of an error code of the ledger, with the fix. */
export function codeInWords(code: string): string {
  return codeWords[code] ?? 'An error of the upstream, passed on as it came.';
}

const codeWords: Readonly<Record<string, string>> = {
  invalid_request_error: 'The upstream found an error in the request; its answer says which.',
  authentication_error: 'The upstream refuses the credential of the slot.',
  permission_error: 'The upstream does not let this account do that.',
  not_found_error: 'The upstream does not know what was asked for.',
  request_too_large: 'The request is too large for the upstream.',
  rate_limit_error: 'The upstream said: too many requests.',
  overloaded_error: 'The upstream is overloaded.',
  api_error: 'The upstream had a fault of its own.',
  timeout_error: 'The upstream took too long.',
  missing_api_key: 'No key was sent.',
  invalid_api_key: 'The key is unknown, has expired or was revoked.',
  forbidden: 'The key may not call this.',
  not_found: 'There is nothing at this path.',
  model_not_found: 'No slot serves this model. Look at the models of the slots.',
  method_not_allowed: 'The path takes another method.',
  body_too_large: 'The body is larger than body-limit lets in.',
  unsupported_media_type: 'The request was not sent as application/json.',
  invalid_json: 'The body could not be read as JSON.',
  invalid_request: 'A field of the request is wrong; the answer names it.',
  rate_limited: 'A limit of the key or a usage window of the account is used up.',
  incomplete_response:
    'Nothing visible came from the upstream: often DNS or egress at the slot. Diagnose it.',
  upstream_unreachable: 'There was no connection to the upstream. Diagnose the slot.',
  upstream_invalid_response: 'What answered is not the provider. Check the baseUrl of the slot.',
  upstream_interrupted: 'The answer of the upstream broke off.',
  upstream_timeout: 'The upstream was silent for too long.',
  no_slot_available: 'No slot could take the request. Look at the states of the slots.',
  shutting_down: 'The gateway was shutting down; the caller should have retried.',
  internal: 'A fault of the gateway; see its log.',
};

/** Error codes that have an explanation. */
export const codes: readonly string[] = Object.keys(codeWords);

/** Explanation of a status if the ledger has no code. */
export function statusInWords(status: number): string {
  if (status === 499) return 'The caller left before the answer was whole.';
  return status < 400 ? 'Answered.' : `The answer had status ${status}.`;
}

/**
 * Display name of a group; "none" for requests of the master key, which have no key, and for refused ones
 * without a slot or model.
 */
export function groupName({ group, name }: Pick<UsageBucket, 'group' | 'name'>): string {
  if (!group) return 'none';
  return name ?? formatWords[group] ?? group;
}
