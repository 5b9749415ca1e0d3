import type { Drafting } from '../../state/use-draft.js';
import type { AccountKind, Slot, SlotPatch, SlotSettings } from '../../api/types.js';

/** Texts of the slot form as typed. Secrets start empty; one that stays empty is not changed. */
interface SlotDraft {
  readonly id: string;
  readonly upstream: string;
  readonly baseUrl: string;
  readonly accountKind: AccountKind;
  readonly account: Readonly<Record<AccountField, string>>;
  readonly models: string;
  readonly maxConcurrent: string;
  readonly weight: string;
  readonly proxy: string;
  readonly headers: string;
  readonly connectTimeout: string;
}

/** Props of a part of the form. */
export type PartProps = Drafting<SlotDraft>;

export type AccountField =
  | 'key'
  | 'header'
  | 'accessToken'
  | 'refreshToken'
  | 'tokenUrl'
  | 'clientId'
  | 'clientSecret';

/** Fields of each kind of account. */
const accountFields: Readonly<Record<AccountKind, readonly AccountField[]>> = {
  'api-key': ['key', 'header'],
  oauth: ['accessToken', 'refreshToken', 'tokenUrl', 'clientId', 'clientSecret'],
  none: [],
};

/** Text that the API sends in place of a redacted secret. */
const blank = '***';

const noSettings: SlotSettings = {};

export function draftOf(slot: Slot | null): SlotDraft {
  const { settings = noSettings, id = '' } = slot ?? {};
  const { account } = settings;
  const shown = (field: AccountField) => textOf(account?.[field]);
  return {
    id,
    upstream: settings.upstream ?? 'messages',
    baseUrl: settings.baseUrl ?? '',
    accountKind: account?.kind ?? slot?.account ?? 'api-key',
    account: {
      key: shown('key'),
      header: shown('header') || 'x-api-key',
      accessToken: shown('accessToken'),
      refreshToken: shown('refreshToken'),
      tokenUrl: shown('tokenUrl'),
      clientId: shown('clientId'),
      clientSecret: shown('clientSecret'),
    },
    models: [settings.models ?? '*'].flat().join(', '),
    maxConcurrent: String(settings.maxConcurrent ?? 32),
    weight: String(settings.weight ?? 1),
    proxy: settings.proxy ?? '',
    headers: Object.entries(settings.headers ?? {})
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    connectTimeout: settings.connectTimeout ?? '10s',
  };
}

/** Entry of a new slot; empty fields get their defaults. */
export function entryOf(draft: SlotDraft): SlotSettings & { readonly id: string } {
  const fields = Object.entries(settingsOf(draft)).filter(([, value]) => value !== null);
  return { id: draft.id.trim(), ...Object.fromEntries(fields) };
}

/**
 * Merge patch from `before` to `draft`; equal fields are left out, so that redacted secrets stay the same.
 */
export function patchOf(draft: SlotDraft, before: SlotDraft): SlotPatch {
  const old = new Map(Object.entries(settingsOf(before)));
  const changed = Object.entries(settingsOf(draft)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old.get(name)),
  );
  const patch: Record<string, unknown> = Object.fromEntries(changed);
  if ('headers' in patch) patch['headers'] = headerPatch(draft.headers, before.headers);
  return patch;
}

/** True if the credential would be sent to a new destination; the API then requires it again. */
export function goesElsewhere(draft: SlotDraft, before: SlotDraft): boolean {
  const placesOf = ({ upstream, baseUrl, proxy, account }: SlotDraft) =>
    [upstream, baseUrl.trim(), proxy.trim(), account.tokenUrl.trim()].join('\n');
  return placesOf(draft) !== placesOf(before);
}

function settingsOf(draft: SlotDraft): Record<keyof SlotSettings, unknown> {
  return {
    upstream: draft.upstream,
    baseUrl: draft.baseUrl.trim() || null,
    account: accountOf(draft),
    models: words(draft.models),
    maxConcurrent: Number(draft.maxConcurrent),
    weight: Number(draft.weight),
    proxy: draft.proxy.trim() || null,
    headers: headersOf(draft.headers),
    connectTimeout: draft.connectTimeout.trim() || null,
  };
}

function accountOf({ accountKind, account }: SlotDraft): object {
  const named = accountFields[accountKind] ?? [];
  const fields = named.map((field) => [field, account[field].trim()] as const);
  return {
    kind: accountKind,
    ...Object.fromEntries(fields.filter(([, text]) => text !== '' && text !== blank)),
  };
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim());
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim().toLowerCase(), value.join(':').trim()];
    }),
  );
}

/** Merge patch of the headers: new values, and null for removed names; a redacted value is left out. */
function headerPatch(text: string, before: string): Record<string, string | null> {
  const now = headersOf(text);
  const gone = Object.keys(headersOf(before)).filter((name) => !(name in now));
  const kept = Object.entries(now).filter(([, value]) => value !== blank);
  return Object.fromEntries([...kept, ...gone.map((name) => [name, null] as const)]);
}

function words(text: string): readonly string[] {
  const list = text.split(/[\s,]+/).filter(Boolean);
  return list.length > 0 ? list : ['*'];
}

function textOf(value: unknown): string {
  return typeof value === 'string' && value !== blank ? value : '';
}
