import type { BinaryString } from '@gw2api/gateway/plugin/raw';

/** An output item as the caller sees it. */
export type Item = Readonly<Record<string, unknown>>;

/** Sink of events: a stream, or nothing. `fields` lacks only the sequence number. */
export interface EventSink {
  emit(type: string, fields: object): void;
  /** Emits the same fields under each of these types, serialized once. */
  emitEach(types: readonly string[], fields: object): void;
  /** Same as `emit`, with the fields as JSON without braces: avoids an object for each text delta. */
  emitJson(type: string, fields: BinaryString): void;
}

/** An unfinished output item. */
export interface OpenItem {
  /** Emits an event about this item. */
  emit(type: string, fields: object): void;
  emitJson(type: string, fields: BinaryString): void;
  /** Ends it; `fields` are all but its id. */
  done(fields: object): void;
}

/** Prefixes of the Responses format's output items. */
export type ItemKind = 'msg' | 'rs' | 'fc' | 'ctc' | 'ws' | 'cmp';

/**
 * Id of an output item. It contains the response's id (`msg_<response>_<index>` for `resp_<response>`), so
 * that an `item_reference` alone finds the stored response.
 */
export function itemId(kind: ItemKind, responseId: string, index: number): string {
  return `${kind}_${withoutPrefix(responseId)}_${index}`;
}

/** The id of an input item that the caller has sent without one: `msg_<response>_in<index>`. */
export function inputItemId(type: string, responseId: string, index: number): string {
  return `${prefixes.get(type) ?? 'item'}_${withoutPrefix(responseId)}_in${index}`;
}

/** The response whose output item has this id; undefined for an id that `itemId` did not make. */
export function responseIdOf(id: string): string | undefined {
  return responseIn(/^(?:msg|rs|fc|ctc|ws|cmp)_(.+)_\d+$/.exec(id));
}

/** The response whose input item has this id; undefined for an id that `inputItemId` did not make. */
export function inputResponseIdOf(id: string): string | undefined {
  return responseIn(/^[a-z]+_(.+)_in\d+$/.exec(id));
}

const prefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
  ['web_search_call', 'ws'],
  ['compaction', 'cmp'],
]);

function withoutPrefix(responseId: string): string {
  return responseId.replace(/^resp_/, '');
}

function responseIn(found: RegExpExecArray | null): string | undefined {
  return found ? `resp_${found[1]}` : undefined;
}
