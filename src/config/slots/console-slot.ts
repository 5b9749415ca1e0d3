import { lazy } from '../../kit/once.js';
import { compileCheck } from '../../plugin/format/index.js';
import { Type } from '../../plugin/index.js';
import type { SchemaError } from '../../plugin/upstream/index.js';
import { checkSourceBy } from '../checked.js';
import { isLinkLocal, whyRefused } from '../../kit/addresses.js';
import type { Config, SlotConfig, SlotPluginsConfig } from '../config.js';
import { writePath, type Path, type Source } from '../document.js';
import { SlotSchema, type RawSlot } from './slot-schema.js';
import { slotErrors, validSlotPlugins, toSlot } from './slots.js';

/** Result of reading a slot that is not in a file; problems are one sentence each, the field first. */
export interface SlotReading {
  /** Undefined if there is a problem. */
  readonly slot: SlotConfig | undefined;
  /** Plugins of the slot, also if other parts are wrong, so that all problems are reported together. */
  readonly plugins: SlotPluginsConfig | undefined;
  readonly problems: readonly string[];
}

/**
 * Checks an entry by the schema and rules of `slots:`, without substituting variables; `origin` is the file
 * name in positions. Refuses link-local and metadata addresses, here and at each connection, unless
 * `allowLinkLocal`.
 */
export function parseConsoleSlot(
  entry: unknown,
  origin: string,
  { allowLinkLocal }: Config['console'],
): SlotReading {
  const source = sourceOf(entry, origin);
  const { value, errors, isValid } = checkSourceBy(checkSlot(), source);
  const { slots } = value as { slots: readonly RawSlot[] }; // each part is used only if `isValid`
  const [raw] = slots;
  const wrong = [
    ...errors,
    ...(raw ? [...slotErrors(raw, 0, isValid), ...consoleOnlyErrors(raw, isValid)] : []),
    ...(raw && !allowLinkLocal ? addressErrors(raw, isValid) : []),
  ];
  const plugins = validSlotPlugins(raw, 0, source, isValid);
  if (!raw || wrong.length > 0) return { slot: undefined, plugins, problems: wrong.map(problemOf) };
  const slot = { ...toSlot(raw, 0, source), path: `slot "${raw.id}"` };
  return { slot: allowLinkLocal ? slot : { ...slot, isGuarded: true }, plugins, problems: [] };
}

/** Check of a slot, made on first use. */
const checkSlot = lazy(() =>
  compileCheck(Type.Object({ slots: Type.Array(SlotSchema) }), { useDefaults: true }),
);

function sourceOf(entry: unknown, file: string): Source {
  const positionOf = () => ({ file, line: 1, column: 1 });
  return { file, value: { slots: [entry] }, errors: [], isYaml: true, positionOf };
}

function consoleOnlyErrors(
  { id, account, tls }: RawSlot,
  isValid: (path: Path) => boolean,
): readonly SchemaError[] {
  const idPath: Path = ['slots', 0, 'id'];
  const accountPath: Path = ['slots', 0, 'account'];
  return [
    ...(isValid(idPath) && id.length > maxIdLength
      ? [{ path: idPath, message: `must have at most ${maxIdLength} characters` }]
      : []),
    ...(tls === undefined
      ? []
      : [{ path: ['slots', 0, 'tls'], message: 'names files, which is allowed only in the config file' }]),
    ...Object.entries(isValid(accountPath) ? { ...account } : {})
      .filter(([, text]) => /^\$(\{.*\}|[A-Za-z_]\w*)$/.test(String(text)))
      .map(([key]) => ({
        path: [...accountPath, key],
        message: 'looks like a variable of the environment; only the config file may use those',
      })),
  ];
}

/**
 * Errors for link-local IP addresses. Host names are checked at each connection, because their DNS records
 * may change.
 */
function addressErrors(slot: RawSlot, isValid: (path: Path) => boolean): readonly SchemaError[] {
  const { baseUrl, proxy } = slot;
  const inside = (['account', 'with'] as const).flatMap((part) =>
    isValid(['slots', 0, part])
      ? Object.entries({ ...slot[part] }).map(([key, url]) => [[part, key], url] as const)
      : [],
  );
  const urls: readonly (readonly [Path, unknown])[] = [[['baseUrl'], baseUrl], [['proxy'], proxy], ...inside];
  return urls
    .filter(([, url]) => typeof url === 'string' && URL.canParse(url) && isLinkLocal(new URL(url).hostname))
    .map(([path]) => ({ path: ['slots', 0, ...path], message: whyRefused }));
}

/** Max characters of an id, which is sent in a header of every answer. */
const maxIdLength = 100;

function problemOf({ path, message }: SchemaError): string {
  const field = path.slice(2);
  return field.length === 0 ? `The slot ${message}` : `${writePath(field)}: ${message}`;
}
