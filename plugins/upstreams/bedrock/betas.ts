import type { Loss } from '@gw2api/gateway/plugin';

/**
 * Beta flags that Bedrock takes. It refuses a request with any other one (`invalid beta flag`), among them those
 * of prompt caching, files, code execution, memory and the count of thinking tokens.
 */
export const betaNames: readonly string[] = [
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dev-full-thinking-2025-05-14',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'mcp-client-2025-04-04',
  'mcp-client-2025-11-20',
  'model-context-window-exceeded-2025-08-26',
  'output-128k-2025-02-19',
  'pdfs-2024-09-25',
  'search-results-2025-06-09',
  'token-counting-2024-11-01',
  'token-efficient-tools-2025-02-19',
  'tool-search-tool-2025-10-19',
  'web-search-2025-03-05',
];

/** Flags that Bedrock has under another name. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['advanced-tool-use-2025-11-20', 'tool-search-tool-2025-10-19'],
]);

/** Beginning of the paths of flags that are left out. */
const betaPath = 'anthropic-beta: ';

export interface SortedBetas {
  /** Flags for the body, each once. */
  readonly passed: readonly string[];
  /** Flags left out, for `x-gw-dropped`. */
  readonly dropped: readonly Loss[];
}

/** Sorts the flags of an `anthropic-beta` header into those of `known`, by their names there, and the rest. */
export function sortBetas(header: string | undefined, known: ReadonlySet<string>): SortedBetas {
  if (header === undefined) return none;
  const flags = header.split(',').map((flag) => flag.trim());
  const passed = new Set<string>();
  const dropped = new Set<string>();
  for (const flag of flags) {
    if (flag === '') continue;
    const name = known.has(flag) ? flag : (aliases.get(flag) ?? flag);
    if (known.has(name)) passed.add(name);
    else dropped.add(`${betaPath}${flag}`);
  }
  return { passed: [...passed], dropped: [...dropped].map((path) => ({ path, kind: 'mend' })) };
}

const none: SortedBetas = { passed: [], dropped: [] };

/** Flags that are left out, without the beginning of their paths. */
export function flagsOf({ dropped }: SortedBetas): readonly string[] {
  return dropped.map(({ path }) => path.slice(betaPath.length));
}
