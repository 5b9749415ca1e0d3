import { GatewayError, isGatewayError } from '../../../plugin/index.js';
import { LateError } from '../../../kit/time/within.js';
import { RefusedRowsError, type AppendedRow, type Ledger } from '../../ledger/contract.js';
import type { WholeStore } from '../contract/store.js';
import { StoreDownError } from '../store-error.js';

/** True for a failure of the database, false for one of the query. */
type IsFailure = (error: unknown) => boolean;

/**
 * Wraps a store, so that its failures become a GatewayError `store_unavailable` with the driver's error as
 * cause.
 */
export function unavailable(store: WholeStore, isFailure: IsFailure): WholeStore {
  const reported = <Part extends object>(part: Part): Part => reportFailures(part, isFailure);
  return {
    ...store,
    get isDown() {
      return store.isDown;
    },
    keys: reported(store.keys),
    teams: reported(store.teams),
    credentials: reported(store.credentials),
    slots: reported(store.slots),
    slotStates: reported(store.slotStates),
    sessions: reported(store.sessions),
    bindings: reported(store.bindings),
    responses: reported(store.responses),
    ledger: reported(withRefusals(store.ledger)),
    errorTexts: reported(store.errorTexts),
    spaces: reported(store.spaces),
    slotHistory: reported(store.slotHistory),
    audit: reported(store.audit),
    adminTokens: reported(store.adminTokens),
  };
}

/** Names of value errors, for which the same rows will be refused again. */
function withRefusals(ledger: Ledger): Ledger {
  const append = async (rows: readonly AppendedRow[]): Promise<void> => {
    try {
      await ledger.append(rows);
    } catch (error) {
      throw isOfValues(error) ? new RefusedRowsError(error) : error;
    }
  };
  return { ...ledger, append };
}

/** True for a database's value errors, and for incomplete rows, as in an edited spool. */
function isOfValues(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return true;
  const { code } = Object(error) as { readonly code?: unknown }; // fields of any value
  return typeof code === 'string' && ofValues.test(code);
}

/** SQLSTATE of data, of constraints and of values too long for an index; SQLite's codes for the same. */
const ofValues = /^(?:(?:22|23|54)\w{3}|SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)\w*)$/;

function reportFailures<Part extends object>(part: Part, isFailure: IsFailure): Part {
  const methods = Object.entries(part) as [string, Method][]; // a part of a store has only methods
  const reported = methods.map(([name, method]) => {
    const call: Method = async (...values) => {
      try {
        return await method(...values);
      } catch (error) {
        throw toUnavailable(error, isFailure);
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(reported) as Part; // the same methods by the same names
}

type Method = (...values: readonly unknown[]) => Promise<unknown>;

function toUnavailable(error: unknown, isFailure: IsFailure): unknown {
  if (isGatewayError(error) || error instanceof RefusedRowsError) return error;
  const isDown = error instanceof StoreDownError || error instanceof LateError;
  if (!isDown && !isFailure(error)) return error;
  return new GatewayError('store_unavailable', sentenceFor(error), {
    headers: { 'retry-after': '1' },
    cause: error,
  });
}

/** Names neither a file nor an address: callers of `/v1` read it too. */
function sentenceFor(error: unknown): string {
  const code = codeOf(error) || (error instanceof StoreDownError ? codeOf(error.cause) : '');
  const reason = reasons.find(([start]) => code.startsWith(start))?.[1] ?? 'it does not answer';
  return `The store cannot be used right now: ${reason}. Try again in a moment.`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const reasons: readonly (readonly [code: string, reason: string])[] = [
  ['SQLITE_BUSY', 'its file is locked by another program'],
  ['SQLITE_LOCKED', 'its file is locked by another program'],
  ['SQLITE_FULL', 'its disk is full'],
  ['SQLITE_READONLY', 'its file is read-only'],
  ['SQLITE_IOERR', 'its file cannot be read or written'],
  ['SQLITE_CANTOPEN', 'its file cannot be opened'],
  ['SQLITE_CORRUPT', 'its file is damaged'],
  ['SQLITE_NOTADB', 'its file is damaged'],
  ['STORE_BUSY', 'all its connections are in use'],
  ['25006', 'it is read-only'],
  ['28', 'it refuses the login of the gateway'],
  ['3D000', 'it has no such database'],
  ['42501', 'the gateway lacks a privilege in it'],
  ['53100', 'its disk is full'],
  ['53300', 'it accepts no more connections'],
  ['57P03', 'it is starting or shutting down'],
  ['SQLITE_THREAD_FULL', 'too many requests are already waiting for it'],
];
