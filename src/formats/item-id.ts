/** Prefixes of the Responses format's output items. */
export type ItemKind = 'msg' | 'rs' | 'fc' | 'ctc' | 'ws';

/**
 * The id of an output item: it names the response it belongs to (`msg_<response>_<index>` for `resp_<response>`), so that an
 * `item_reference` alone finds the stored response.
 */
export function itemId(kind: ItemKind, responseId: string, index: number): string {
  return `${kind}_${responseId.replace(/^resp_/, '')}_${index}`;
}

/** The response whose item has this id; undefined for an id that `itemId` did not make. */
export function responseIdOf(id: string): string | undefined {
  const found = /^(?:msg|rs|fc|ctc|ws)_(.+)_\d+$/.exec(id);
  return found ? `resp_${found[1]}` : undefined;
}
