import { isRecord } from '../../../kit/schema/record.js';
import { loadBuiltins, type Loading } from './load-plugin.js';
import { upstreamKind } from './slot-kinds.js';

/**
 * Message for the name of a vendor in the place of an upstream, which names a protocol: `openai` is a preset of `chat`.
 * Undefined for other names.
 */
export async function vendorsUpstream(use: string, where: Loading): Promise<string | undefined> {
  if (use === 'anthropic') return 'is a vendor, whose protocol is the upstream; write `upstream: messages`';
  const preset = otherNames.get(use) ?? use;
  const kinds = await loadBuiltins(upstreamKind, where);
  const kind = kinds.find(({ options }) => presetsOf(options).includes(preset));
  if (!kind) return undefined;
  return `is a preset of the upstream "${kind.name}"; write \`upstream: ${kind.name}\` and \`with: { preset: ${preset} }\``;
}

/** Presets by further names of their vendors. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['azure', 'azure-openai'],
  ['gemini', 'google'],
  ['llamacpp', 'llama-cpp'],
  ['lmstudio', 'lm-studio'],
]);

/** Values of the option `preset` of a kind. */
function presetsOf({ properties }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const { preset } = isRecord(properties) ? properties : {};
  const values = isRecord(preset) ? preset['enum'] : undefined;
  return Array.isArray(values) ? values : [];
}
