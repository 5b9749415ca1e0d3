import type { GatewayError, SlotCall } from '@gw2api/gateway/plugin';
import type { RefusedPart } from '@gw2api/gateway/plugin/upstream';

/** Finds the part of a call that a refusal is about; undefined: another one, or one that the call does not have. */
export type FindPart = (said: string, call: SlotCall, error: GatewayError) => RefusedPart | undefined;

/** First part that a table finds in the words of a refusal: lower case, the beginning, for the rest quotes the request. */
export function refusedIn(
  table: readonly FindPart[],
  error: GatewayError,
  call: SlotCall,
): RefusedPart | undefined {
  const said = wordsOf(error);
  for (const find of table) {
    const part = find(said, call, error);
    if (part && !call.without?.has(part.without)) return part;
  }
  return undefined;
}

/** Words of a refusal, after the field that it names beside them. */
function wordsOf({ message, param }: GatewayError): string {
  const words = message.slice(0, maxWordsLength);
  const isNamed = typeof param !== 'string' || param === '' || words.includes(param);
  return (isNamed ? words : `${param.slice(0, 100)}: ${words}`).toLowerCase();
}

const maxWordsLength = 1000;

/** Part that stages have added, which no caller misses. */
export function addedPart(without: string): RefusedPart {
  return { without, isOfModel: true, isAsked: false };
}

/** Replacement of a refused value; empty: none. Undefined if no value of this name was refused. */
export function entryValue(without: SlotCall['without'], name: string): string | undefined {
  if (!without) return undefined;
  for (const entry of without) {
    if (entry === name) return '';
    if (entry.startsWith(`${name}=`)) return entry.slice(name.length + 1);
  }
  return undefined;
}
