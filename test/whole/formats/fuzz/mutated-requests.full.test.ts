import { expect } from 'chai';
import { fullRequests } from './full-requests.js';
import { startKinds, type SlotKinds } from '../../slots/upstreams/slot-kinds.js';

type Path = readonly (string | number)[];

/** Members whose values are data of the caller: null says something in them. */
const data = new Set(['input', 'input_schema', 'parameters', 'schema', 'arguments', 'input_examples', 'metadata', 'logit_bias', 'prediction', 'reasoning_details']); // prettier-ignore

/** Paths of the places in a value. */
function placesOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? value.map((_, at) => at) : Object.keys(value);
  return keys.flatMap((key) => [
    [...path, key],
    ...placesOf((value as Readonly<Record<string | number, unknown>>)[key], [...path, key]),
  ]);
}

function isData(path: Path): boolean {
  return path.slice(0, -1).some((key) => typeof key === 'string' && data.has(key));
}

/** Copy with another value at a path; undefined leaves the member out. */
function withValue(body: object, path: Path, value: unknown): object {
  const copy: unknown = JSON.parse(JSON.stringify(body));
  const holder = path.slice(0, -1).reduce((fields, key) => (fields as Fields)[key], copy) as Fields;
  const last = path.at(-1)!;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy as object;
}

type Fields = Record<string | number, unknown>;

function nameOf(path: Path): string {
  return path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('').slice(1); // prettier-ignore
}

/** True if one of two names is the other one, or holds it. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => name.replaceAll(/[^\w]+/g, '.'));
  return a!.startsWith(b!) || b!.startsWith(a!);
}

const slots = ['openrouter', 'responses', 'messages'];

/** Each place has another one towards each slot. */
const values = [7, [{ type: 'text' }], { toString: 1 }];

describe('a request with another value at one of its places', () => {
  let kinds: SlotKinds;
  before(async () => void (kinds = await startKinds({ presets: ['openrouter'] })));
  after(() => kinds.close());

  async function play(slot: string, path: string, body: object) {
    const { length } = kinds.sent;
    const response = await kinds.ask(slot, path, body);
    const text = await response.text();
    const sent = kinds.sent.length > length ? kinds.sent.at(-1)!.text : '';
    return { status: response.status, text, sent, dropped: response.headers.get('x-gw-dropped') };
  }

  for (const slot of slots)
    it(`is what it was without the member where that is null, towards ${slot}`, async () => {
      for (const [path, body] of fullRequests)
        for (const place of placesOf(body)) {
          if (typeof place.at(-1) !== 'string' || isData(place)) continue;
          const [given, without] = [null, undefined].map((value) => withValue(body, place, value));
          const [nulled, absent] = [await play(slot, path, given!), await play(slot, path, without!)];
          const what = `${path} ${nameOf(place)}: ${nulled.text}`;
          expect(nulled.status, what).to.equal(absent.status).that.is.below(500);
          if (slot === 'messages' && path.startsWith('/v1/messages')) continue; // goes up as it came
          expect([nulled.sent, nulled.dropped], what).to.deep.equal([absent.sent, absent.dropped]);
        }
    }).timeout(60_000);

  slots.forEach((slot, nth) =>
    it(`is taken, or refused by the name of the place, towards ${slot}`, async () => {
      for (const [path, body] of fullRequests)
        for (const [at, place] of placesOf(body).entries()) {
          if (place[0] === 'model' || place[0] === 'previous_response_id') continue;
          const value = values[(at + nth) % values.length];
          const { status, text } = await play(slot, path, withValue(body, place, value));
          const what = `${path} ${nameOf(place)} = ${JSON.stringify(value)}: ${status} ${text}`;
          expect([200, 400], what).to.include(status);
          if (status === 200) continue;
          const { error } = JSON.parse(text) as { error: { message: string } };
          expect(isNear(nameOf(place), error.message.split(/: | /)[0]!), what).to.equal(true);
        }
    }).timeout(60_000),
  );
});
