import type { CallerRequest, ReceivedEvent } from '../../engine/http/connection/inner-caller.js';
import type { RemoteQuestions } from './remotes.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { SlotStatus, LedgerTokens } from '../../plugin/core.js';

/** Request to a dry gateway, as its caller sends it. */
export interface DryRequest extends CallerRequest {
  /** Names in any case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of the key that sends it, which is issued on first use; null: none; default `test`. */
  readonly key?: string | null;
}

/** A request as it went out to an upstream. */
export interface OutgoingCall {
  /** Undefined for a request to the token endpoint of an account, rather than to a slot's upstream. */
  readonly slot?: string;
  /** Label of the call of a stage (`host.call`) that it is for; absent: it is for the request itself. */
  readonly label?: string;
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of the headers that the account has set. */
  readonly credential: readonly string[];
  /** Parsed JSON, else the text; undefined without a body. */
  readonly body: unknown;
}

/** True for a call of the model; false for a token count or a request of another kind. */
export function isModelCall({
  slot,
  path,
  body,
}: Partial<OutgoingCall> & Pick<OutgoingCall, 'path'>): boolean {
  return slot !== undefined && body !== undefined && !isTokenCount(path);
}

/** True for the path of a token count, as the services call it: `count_tokens`, `count-tokens`, `input_tokens`. */
export function isTokenCount(path: string): boolean {
  return /\b(count[-_]?tokens|input_tokens)\b/i.test(path.split('?', 1)[0] ?? '');
}

/** All observable results of a request: its caller's answer, upstream requests, and stored data. Plain JSON. */
export interface DryOutcome {
  /** HTTP status; 499 if the caller disconnected before it was known. */
  readonly status: number;
  /** Answer headers, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON, else as text; of a stream the sum of its events in the caller's format. */
  readonly answer: unknown;
  /** Text of the model in the answer, of all blocks and choices. */
  readonly text: string;
  /** Events of a streamed answer; empty for any other. */
  readonly events: readonly ReceivedEvent[];
  /** Error of the answer, or of the event that ended its stream. */
  readonly error?: { readonly code: string; readonly message: string };
  /** True if the caller got the whole answer; false if the connection broke off, or the caller disconnected. */
  readonly complete: boolean;
  /** Name of the pipeline that the request has passed; `default` if none was chosen. */
  readonly pipeline: string;
  readonly slot?: string;
  /** Model as asked. */
  readonly model?: string;
  /** Model that answered instead of the requested one. */
  readonly answeredBy?: string;
  /** Calls of upstreams. */
  readonly attempts: number;
  /** Upstream calls in order, failed ones with their code. */
  readonly calls: readonly { readonly slot: string; readonly model?: string; readonly code?: string }[];
  /** Stages that the request passed, in order. */
  readonly stages: readonly string[];
  /** Stages whose failure was skipped (`onError: skip`). */
  readonly skipped: readonly string[];
  /**
   * Body of the last model call as it was sent, calls of stages excluded; absent if there was none, and for concurrent
   * requests.
   */
  readonly upstream?: unknown;
  /** Every upstream request for this one, those of calls by stages included; concurrent requests share the list. */
  readonly outgoing: readonly OutgoingCall[];
  /** Questions of remote stages, by the name of the stage; concurrent requests share them. */
  readonly remotes: RemoteQuestions;
  /** Fields that could not be passed on, as `x-gw-dropped` names them. */
  readonly dropped: readonly string[];
  /** Tokens as shown to the caller and as billed by the upstream, in the field names of the ledger. */
  readonly usage: { readonly shown: LedgerTokens; readonly billed: LedgerTokens };
  /** Cost in USD of the tokens as shown and as billed, by the prices of the config. */
  readonly cost: { readonly shown: number | 'unknown'; readonly billed: number | 'unknown' };
  /** Rows of the ledger for this request: its own, then those of the calls that stages have made for it. */
  readonly ledger: readonly LedgerRow[];
  /** Slots when the request had ended, by id. */
  readonly slots: Readonly<Record<string, SlotStatus>>;
  /** Time on the dry clock until the first event of a streamed answer. */
  readonly firstEventMs?: number;
  /** Time on the dry clock from the request to the end of the answer. */
  readonly durationMs: number;
  /** Addresses that a plugin tried and failed to connect to. */
  readonly refusedConnections: readonly string[];
  /** Log lines of the request and of its stages, from `warn` up. */
  readonly log: readonly { readonly level: string; readonly message: string }[];
}
