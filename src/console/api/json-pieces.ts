import { Readable } from 'node:stream';
import { setImmediate as breath } from 'node:timers/promises';

/**
 * JSON text of `{...head, data}` for a long list, as a stream of chunks. Between two chunks the event loop
 * serves other requests.
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

/** Items per chunk: few enough to block the event loop only briefly. */
const pieceItems = 250;
