/** A tool as the caller declared it; Messages knows only functions, and no namespaces. */
export interface CallerTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
}

/** The caller's tools by the names that the upstream knows them by. */
export type CallerTools = ReadonlyMap<string, CallerTool>;

/** The caller's tool behind an upstream name; one that the caller did not declare is a function of that name. */
export function callerTool(tools: CallerTools, name: string): CallerTool {
  return tools.get(name) ?? { kind: 'function', name };
}

/**
 * The free text of a custom tool's call, which goes through Messages as `{"input": "…"}`; JSON that was cut, or is
 * something else, stays as it is.
 */
export function customInput(json: string): string {
  const value = parse(json);
  const input = typeof value === 'object' && value !== null && 'input' in value ? value.input : undefined;
  return typeof input === 'string' ? input : json;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined; // cut by `max_tokens`
  }
}
