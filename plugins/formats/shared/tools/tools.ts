/** A tool as the caller declared it; Messages knows only functions, and no namespaces. */
export interface CallerTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
}

/** The caller's tools by their upstream names. */
export type CallerTools = ReadonlyMap<string, CallerTool>;

/** Caller's tool with this upstream name; an undeclared one is a function of that name. */
export function callerTool(tools: CallerTools, name: string): CallerTool {
  return tools.get(name) ?? { kind: 'function', name };
}

/**
 * Free text of a custom tool's call, sent through Messages as `{"input": "…"}`. Truncated or other JSON stays
 * as it is.
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
