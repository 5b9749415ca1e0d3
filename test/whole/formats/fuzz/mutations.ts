import * as fc from 'fast-check';

/** One change somewhere in a JSON value; `place` chooses where, `value` what is put there. */
interface Change {
  readonly kind: 'drop' | 'replace' | 'duplicate' | 'wrap' | 'rename' | 'add';
  readonly place: number;
  readonly value: unknown;
}

/** Stands for JSON that JavaScript values cannot say, or not well; `asJson` puts it in. */
const written: Readonly<Record<string, string>> = {
  '@arrays@': `${'['.repeat(10_000)}1${']'.repeat(10_000)}`,
  '@objects@': `${'{"content":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  '@twice@': '{"type":"text","type":"image","text":"a","text":["b"]}',
  '@proto@': '{"__proto__":{"type":"text","text":"a"},"constructor":1,"toString":null}',
  '@number@': '1e999',
  '@half@': '"\\ud83d"',
};

const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  Number.MAX_SAFE_INTEGER,
  1e308,
  '',
  ' ',
  'a',
  '12',
  '__proto__',
  'toString',
  'a\u0000b\nc: d',
  '\uD800',
  'data:image/png;base64,',
  'gw1.e30',
  [],
  {},
  [[]],
  [null],
  [{}],
  [''],
  ['a', 1],
  { type: 'text' },
  { type: 'text', text: 1 },
  { type: '__proto__' },
  { 0: 'a', 1: 'b', length: 2 },
  ...Object.keys(written),
];

const changes: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('drop', 'replace', 'replace', 'replace', 'duplicate', 'wrap', 'rename', 'add'),
  place: fc.nat(),
  value: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...oddValues) },
    { weight: 1, arbitrary: fc.constant('x'.repeat(200_000)) },
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  ),
});

/** One to four changes of the same value. */
export const mutations: fc.Arbitrary<readonly Change[]> = fc.array(changes, { minLength: 1, maxLength: 4 });

/** The value with the changes made, as JSON. */
export function mutatedJson(value: unknown, changes: readonly Change[]): string {
  const root = { value: structuredClone(value) };
  for (const change of changes) apply(root, change);
  return asJson(root.value);
}

/** The JSON of a value, with what stands for JSON in it written out. */
function asJson(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  return json.replaceAll(/"(@[a-z]+@)"/g, (text, name: string) => written[name] ?? text);
}

type Holder = Record<string, unknown> | unknown[];

interface Place {
  readonly holder: Holder;
  readonly key: string | number;
}

function apply(root: Record<string, unknown>, { kind, place, value }: Change): void {
  const places = placesIn(root);
  if (places.length === 0) return; // all has been dropped
  const { holder, key } = places[place % places.length]!;
  appliers[kind](holder, key, structuredClone(value));
}

type Apply = (holder: Holder, key: string | number, value: unknown) => void;

const appliers: Readonly<Record<Change['kind'], Apply>> = {
  drop: (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  replace: set,
  duplicate: (holder, key) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 0, structuredClone(holder[Number(key)]));
    else set(holder, `${key}2`, structuredClone(holder[key]));
  },
  wrap: (holder, key) => set(holder, key, [get(holder, key)]),
  rename: (holder, key, value) => {
    if (Array.isArray(holder)) return holder.push(holder.shift());
    const name = typeof value === 'string' && !Object.hasOwn(written, value) ? value : '7';
    const old = holder[key];
    delete holder[key];
    return set(holder, name, old);
  },
  add: (holder, key, value) => (Array.isArray(holder) ? holder.push(value) : set(holder, `${key}_`, value)),
};

function get(holder: Holder, key: string | number): unknown {
  return Array.isArray(holder) ? holder[Number(key)] : holder[key];
}

/** Also a key such as `__proto__`. */
function set(holder: Holder, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

function placesIn(holder: Holder): readonly Place[] {
  const keys = Array.isArray(holder) ? holder.map((_, at) => at) : Object.keys(holder);
  return keys.flatMap((key) => {
    const inner = get(holder, key);
    const isHolder = typeof inner === 'object' && inner !== null;
    return [{ holder, key }, ...(isHolder ? placesIn(inner as Holder) : [])];
  });
}
