import { SlotSchema } from '../../config/slots/slot-schema.js';
import { loadPlugin, type Loading } from '../../engine/pipeline/load/load-plugin.js';
import { builtinKinds } from '../../engine/pipeline/load/load-slots.js';
import { optionFields } from '../../engine/pipeline/load/option-fields.js';
import { builtinFolder } from '../../engine/pipeline/load/import/resolve.js';
import { accountKind, upstreamKind } from '../../engine/pipeline/load/slot-kinds.js';
import type { AccountKind, UpstreamKind } from '../../plugin/core.js';
import type { ConsoleTerms } from '../../gateway/slots/console-slots.js';

export interface SlotKinds {
  readonly upstreams: readonly SlotKind[];
  readonly accounts: readonly SlotKind[];
  /** Fields of every slot, of any kind. */
  readonly fields: readonly SlotField[];
}

/** A kind of upstream or account. */
export interface SlotKind {
  /** Name in an entry. */
  readonly use: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Keys of a slot that an upstream of this kind requires. */
  readonly needs: readonly string[];
  /** Kinds of account that fit an upstream; null: any. */
  readonly accounts: readonly string[] | null;
  readonly fields: readonly SlotField[];
  /** The reason why no slot can have it. */
  readonly problem: string | null;
}

/** Controls of a form; `texts`: a map of texts, `map`: one of other values, `json`: any value. */
export const slotControls = ['text', 'number', 'boolean', 'choice', 'list', 'texts', 'map', 'json'] as const;

/** An option as a field of a form. */
export interface SlotField {
  readonly keys: readonly string[];
  readonly control: (typeof slotControls)[number];
  /** Allowed values; empty: any. */
  readonly choices: readonly unknown[];
  readonly title: string | null;
  readonly description: string | null;
  /** Default of the schema; null: it has none. */
  readonly initial: unknown;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** True for an option that only the config file may set. */
  readonly isLocal: boolean;
}

/** Kinds of upstreams and accounts that a slot of the console may have, with the fields of their forms. */
export async function slotKinds({ slots, baseDir }: ConsoleTerms): Promise<SlotKinds> {
  const where = { baseDir, builtins: builtinFolder };
  const used = slots.map(({ upstream, account }) => ({ upstream, account: account?.kind ?? 'none' }));
  const [upstreams, accounts] = await Promise.all(
    (['upstream', 'account'] as const).map(async (part) => {
      const names = [...(await builtinKinds(part, where)), ...used.map((slot) => slot[part])];
      return Promise.all([...new Set(names)].toSorted().map((use) => kindOf(part, use, where)));
    }),
  );
  const own = fieldsOf(SlotSchema).filter(({ keys: [key = ''] }) => !ownParts.has(key));
  return { upstreams: upstreams ?? [], accounts: accounts ?? [], fields: own };
}

/** Keys of a slot that the form draws itself, or that only a file may have. */
const ownParts: ReadonlySet<string> = new Set(['id', 'upstream', 'integrity', 'with', 'account', 'tls']);

const kinds = { upstream: upstreamKind, account: accountKind } as const;

async function kindOf(part: keyof typeof kinds, use: string, where: Loading): Promise<SlotKind> {
  try {
    const plugin = await loadPlugin<UpstreamKind | AccountKind>(kinds[part], use, where);
    const { title, description } = plugin.options;
    return {
      use,
      title: textIn(title),
      description: textIn(description),
      needs: 'needs' in plugin ? plugin.needs : [],
      accounts: ('accounts' in plugin ? plugin.accounts : undefined) ?? null,
      fields: fieldsOf(plugin.options),
      problem: null,
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const unknown = { title: null, description: null, needs: [], accounts: null, fields: [] };
    return { use, ...unknown, problem: `"${use}" ${problem}` };
  }
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Fields of the options that a schema describes. */
function fieldsOf(schema: unknown): readonly SlotField[] {
  return optionFields(schema)
    .filter(({ hasFields }) => !hasFields)
    .map(({ keys, control, values, title, description, initial, isRequired, isSecret, isLocal }) => ({
      keys,
      control,
      choices: values,
      title: title ?? null,
      description: description ?? null,
      initial: initial ?? null,
      isRequired: isRequired && keys.length === 1,
      isSecret,
      isLocal,
    }));
}
