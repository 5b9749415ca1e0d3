import { Readable } from 'node:stream';
import { setImmediate as breath } from 'node:timers/promises';

/**
 * The JSON text of `{...head, data}` for a long list, made while it is sent, a piece at a time: between two pieces other
 * requests have their turn.
 */
export function jsonInPieces<Item>(
  head: object,
  data: readonly Item[],
  report: (item: Item) => object,
): Readable {
  return Readable.from(pieces(head, data, report), { objectMode: false });
}

async function* pieces<Item>(
  head: object,
  data: readonly Item[],
  report: (item: Item) => object,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"data":[`;
  for (let at = 0; at < data.length; at += pieceItems) {
    const texts = data.slice(at, at + pieceItems).map((item) => JSON.stringify(report(item)));
    yield `${at === 0 ? '' : ','}${texts.join(',')}`;
    await breath();
  }
  yield ']}';
}

/** As many as take a millisecond or two. */
const pieceItems = 250;
