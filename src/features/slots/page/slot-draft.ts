import type { Drafting } from '../../../console/web/state/use-draft.js';
import type { Slot, SlotField, SlotKind, SlotKinds, SlotPatch, SlotSettings } from './api.js';
import { blank, entriesOf, linesOf, textOf, valueOf } from './option-texts.js';

/** Texts of the slot form as typed. Secrets start empty; one that stays empty is not changed. */
export interface SlotDraft {
  readonly id: string;
  readonly upstream: string;
  readonly baseUrl: string;
  readonly accountKind: string;
  /** Texts of the fields of `draftFields`, by path: `account.key`, `with.region`. */
  readonly options: Readonly<Record<string, string>>;
  readonly models: string;
  readonly maxConcurrent: string;
  readonly weight: string;
  readonly proxy: string;
  readonly headers: string;
  readonly connectTimeout: string;
}

/** Props of a part of the form. */
export interface PartProps extends Drafting<SlotDraft> {
  readonly kinds: SlotKinds;
  /** Problem of a field, by its path within a slot. */
  readonly errorAt: (path: string) => string | undefined;
}

/** Keys of a slot with their own inputs in the form. */
const drawn: ReadonlySet<string> = new Set([
  'baseUrl',
  'models',
  'maxConcurrent',
  'weight',
  'proxy',
  'headers',
  'connectTimeout',
]);

export function draftOf(slot: Slot | null, kinds: SlotKinds): SlotDraft {
  const settings: SlotSettings = slot?.settings ?? {};
  const upstream = settings.upstream ?? 'messages';
  const kind = kindOf(kinds.upstreams, upstream);
  const draft = {
    id: slot?.id ?? '',
    upstream,
    baseUrl: settings.baseUrl ?? '',
    accountKind: settings.account?.kind ?? slot?.account ?? accountFor(kind, kinds),
    options: {},
    models: modelsText(settings.models),
    maxConcurrent: String(settings.maxConcurrent ?? 32),
    weight: String(settings.weight ?? 1),
    proxy: settings.proxy ?? '',
    headers: linesOf(settings.headers),
    connectTimeout: settings.connectTimeout ?? '10s',
  };
  const texts = draftFields(draft, kinds).map(
    (field) => [pathOf(field), textOf(field, valueAt(settings, field.path))] as const,
  );
  return { ...draft, options: Object.fromEntries(texts.filter(([, text]) => text !== '')) };
}

/** Options of a draft, with their paths within a slot: those of its kinds, and those of every slot. */
export function draftFields({ upstream, accountKind }: SlotDraft, kinds: SlotKinds): readonly SlotField[] {
  const under = (part: string, kind: SlotKind | undefined) =>
    (kind?.fields ?? []).map((field) => ({ ...field, path: [part, ...field.path] }));
  const own = kinds.fields.filter(({ path: [key = ''] }) => !drawn.has(key));
  const all = [
    ...under('with', kindOf(kinds.upstreams, upstream)),
    ...under('account', kindOf(kinds.accounts, accountKind)),
    ...own,
  ];
  return all.filter(({ local }) => !local);
}

export function pathOf({ path }: SlotField): string {
  return path.join('.');
}

export function kindOf(kinds: readonly SlotKind[], use: string): SlotKind | undefined {
  return kinds.find((kind) => kind.use === use);
}

/** The default kind of account for a new slot of this upstream. */
export function accountFor(upstream: SlotKind | undefined, { accounts }: SlotKinds): string {
  if (!upstream?.needs.includes('account')) return 'none';
  return upstream.accounts?.[0] ?? kindOf(accounts, 'api-key')?.use ?? 'none';
}

/** Entry of a new slot; empty fields get their defaults. */
export function entryOf(draft: SlotDraft, kinds: SlotKinds): SlotSettings & { readonly id: string } {
  return { id: draft.id.trim(), ...settingsOf(draft, kinds) };
}

/** Merge patch from `before` to `draft`; equal fields are left out, so that redacted secrets stay the same. */
export function patchOf(draft: SlotDraft, before: SlotDraft, kinds: SlotKinds): SlotPatch {
  const [old, now] = [settingsOf(before, kinds), settingsOf(draft, kinds)];
  // The API drops the options of another kind: all of those that are typed are new.
  const base = {
    ...old,
    ...(draft.accountKind !== before.accountKind && { account: {} }),
    ...(draft.upstream !== before.upstream && { with: {} }),
  };
  return mergeDiff(base, { ...now });
}

/** True if the credential would be sent to a new destination; the API then requires it again. */
export function goesElsewhere(draft: SlotDraft, before: SlotDraft): boolean {
  const placesOf = ({ upstream, baseUrl, proxy, options }: SlotDraft) => {
    const urls = Object.entries(options).filter(([, text]) => /^https?:/i.test(text.trim()));
    const trimmed = urls.map(([path, text]) => `${path} ${text.trim()}`).toSorted();
    return [upstream, baseUrl.trim(), proxy.trim(), ...trimmed].join('\n');
  };
  return placesOf(draft) !== placesOf(before);
}

function settingsOf(draft: SlotDraft, kinds: SlotKinds): SlotSettings {
  const fixed = {
    upstream: draft.upstream,
    baseUrl: draft.baseUrl.trim() || undefined,
    account: { kind: draft.accountKind },
    models: modelsOf(draft.models),
    maxConcurrent: Number(draft.maxConcurrent),
    weight: Number(draft.weight),
    proxy: draft.proxy.trim() || undefined,
    headers: headersOf(draft.headers),
    connectTimeout: draft.connectTimeout.trim() || undefined,
  };
  const set = draftFields(draft, kinds).map(
    (field) => [field.path, valueOf(field, draft.options[pathOf(field)] ?? '')] as const,
  );
  const whole = set.reduce((tree, [path, value]) => withValue(tree, path, value), fixed as Tree);
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
}

type Tree = Readonly<Record<string, unknown>>;

/** Copy of a tree with a value at a path; undefined: unchanged. */
function withValue(tree: Tree, [key = '', ...rest]: readonly string[], value: unknown): Tree {
  if (value === undefined) return tree;
  const inner = (tree[key] ?? {}) as Tree; // fields of one path are objects
  return { ...tree, [key]: rest.length === 0 ? value : withValue(inner, rest, value) };
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (Object(at) as Tree)[key], tree);
}

function headersOf(text: string): Readonly<Record<string, string>> {
  const headers = entriesOf(text, (value) => value);
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Ids with commas between them; `id = name` for a model that the upstream has another name for. */
function modelsText(models: SlotSettings['models'] = '*'): string {
  if (typeof models === 'string' || Array.isArray(models)) return [models].flat().join(', ');
  return Object.entries(models)
    .map(([id, name]) => (typeof name === 'string' && name !== blank ? `${id} = ${name}` : id))
    .join(', ');
}

function modelsOf(text: string): NonNullable<SlotSettings['models']> {
  const words = text
    .replaceAll(/\s*=\s*/g, '=')
    .split(/[\s,]+/)
    .filter(Boolean);
  if (words.length === 0) return ['*'];
  if (!words.some((word) => word.includes('='))) return words;
  return Object.fromEntries(
    words.map((word) => {
      const [id = '', ...name] = word.split('=');
      return [id, name.length > 0 ? name.join('=') : true];
    }),
  );
}

type Json = Readonly<Record<string, unknown>>;

/** Merge patch (RFC 7396) that turns `before` into `after`; equal parts are left out, redacted secrets among them. */
function mergeDiff(before: Json, after: Json): Json {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  const changed = Object.entries(after)
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]))
    .map(([key, value]) => {
      const old = before[key];
      return [key, isObject(value) && isObject(old) ? mergeDiff(old, value) : value] as const;
    });
  return Object.fromEntries([...changed, ...removed.map((key) => [key, null] as const)]);
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
