/** A vendor's name of a model, split into its segments. */
interface NameParts {
  /** Without the version: `claude-sonnet-5`. */
  readonly undated: string;
  /** Without the vendor's prefix too: `sonnet-5`. */
  readonly short: string;
  /** True if it names one version by its date. */
  readonly isDated: boolean;
}

/**
 * The parts of `claude-sonnet-5`, `claude-sonnet-5-20260101`, `claude-sonnet-5@20260101` or
 * `claude-sonnet-5-latest`; undefined if there is neither prefix nor version.
 */
export function partsOf(name: string): NameParts | undefined {
  if (name.length > maxNameLength) return undefined;
  const version = versions.exec(name)?.[0] ?? '';
  const undated = name.slice(0, name.length - version.length);
  const short = undated.startsWith(prefix) ? undated.slice(prefix.length) : undated;
  return short === name || short === '' ? undefined : { undated, short, isDated: /\d/.test(version) };
}

/** The name that all forms of a model's name have in common. */
export function shortName(name: string): string {
  return partsOf(name)?.short ?? name;
}

/**
 * Forms of a name without `:latest`, without the prefix of a vendor or slot, and without both. Keeps a region, which
 * restricts the location of the data.
 */
export function shorterForms(name: string, isSlot: (id: string) => boolean): readonly string[] {
  const untagged = name.replace(/:latest$/i, '');
  const forms = [untagged, withoutPrefix(name, isSlot), withoutPrefix(untagged, isSlot)];
  return [...new Set(forms)].filter((form) => form !== name && form !== '');
}

function withoutPrefix(name: string, isSlot: (id: string) => boolean): string {
  const end = name.indexOf('/');
  if (end > 0 && (isSlot(name.slice(0, end)) || vendors.has(name.slice(0, end).toLowerCase())))
    return name.slice(end + 1);
  return /^anthropic\./i.test(name) ? name.slice('anthropic.'.length) : name;
}

/** Prefixes of model names at gateways and on hubs. */
const vendors: ReadonlySet<string> = new Set(
  [
    'anthropic openai google gemini vertex_ai vertex bedrock azure azure_ai azure-openai xai x-ai groq',
    'mistral mistralai deepseek deepseek-ai meta meta-llama qwen moonshotai zai zai-org z-ai minimax cohere',
    'nvidia microsoft amazon perplexity openrouter together together_ai fireworks fireworks_ai ollama',
    'ollama_chat lm_studio lmstudio vllm hosted_vllm llamacpp llama-cpp litellm litellm_proxy gw2api models',
    'custom custom_openai openai-compatible openai_compatible github github_copilot opencode',
  ].flatMap((names) => names.split(' ')),
);

/** Max length of a model name: foreign names are kept and searched. */
export const maxNameLength = 200;

const prefix = 'claude-';
const versions = /[-@](?:20\d{6}|latest)$/;
