import type { Config } from '../config/config.js';
import type { CoreContext, Exchange } from '../engine/http/exchange.js';
import type { RunningCall } from '../engine/pipeline/call/running-call.js';
import type { Listener } from '../engine/http/connection/listener.js';
import type { Writable } from '../kit/writable.js';
import type { AppendedRow, LedgerRow } from '../state/ledger/contract.js';
import type { GatewayOptions } from './options.js';
import type { Runtime } from './runtime.js';
import type { RequestMoney } from './settle/money.js';
import type { RequestRecord } from './settle/request-record.js';

/** Name of an extension, which is unique in a gateway. */
export interface ExtensionName<Api = unknown> {
  readonly name: string;
  /** Type of its value; never set. */
  readonly type?: Api;
}

/** Part of a gateway that is opened beside its requests; `Host`: the gateway. */
export interface ExtensionOf<Host, Api = unknown> extends ExtensionName<Api> {
  /** True: opened with the gateway; else by the first `gateway.use`. */
  readonly starts?: (config: Config, options: GatewayOptions) => boolean;
  /** Imports its dependencies. */
  readonly open: (gateway: Host) => Promise<Opened<Api>>;
}

/** Extension that is open. */
export interface Opened<Api> {
  /** Value of `gateway.use`. */
  readonly api: Api;
  readonly watch?: RequestWatch;
  /** Called after the last request, before the services of the gateway close. */
  readonly close?: () => Promise<void>;
}

/** Calls of an extension by the server and by each request; absent ones cost nothing. */
export interface RequestWatch {
  /** Called before the request is routed; undefined if that takes no time. */
  readonly place?: ((ctx: CoreContext) => Promise<void> | undefined) | undefined;
  /** Runtime of a request instead of the one in force; undefined: that one. */
  readonly runtimeOf?: ((ctx: CoreContext) => Runtime | undefined) | undefined;
  /** Called when a server of an address is about to listen. */
  readonly listening?: ((listener: Listener) => void) | undefined;
  /** Called when a route has taken the request, before its stages. */
  readonly begin?: ((ctx: CoreContext) => void) | undefined;
  /** Completes the ledger row of a model call before it is written. */
  readonly complete?: ((ended: Recorded) => void) | undefined;
  /** Called when the response has closed, after the row was handed to the ledger. */
  readonly settled?: ((ended: Ended) => void) | undefined;
  /** Completes the ledger row of a call by a stage before it is written. */
  readonly completeCall?: ((ended: EndedCall<Writable<AppendedRow>>) => void) | undefined;
  /** Called when a call by a stage has ended, after its row was handed to the ledger. */
  readonly callSettled?: ((ended: EndedCall) => void) | undefined;
}

/** Request whose response has closed. */
export interface Ended {
  readonly exchange: Exchange;
  readonly record: RequestRecord;
  readonly money: RequestMoney;
  /** Ledger row of a model call as it may be shown, without the texts of errors; undefined for other requests. */
  readonly row: LedgerRow | undefined;
}

/** Call by a stage (`host.call`) that has ended, with its row as it may be shown. */
export interface EndedCall<Row extends LedgerRow = LedgerRow> extends Pick<Ended, 'record' | 'money'> {
  readonly call: RunningCall;
  readonly row: Row;
}

/** Model call whose response has closed, with the row that is appended to the ledger. */
export interface Recorded extends Ended {
  readonly row: Writable<AppendedRow>;
}
