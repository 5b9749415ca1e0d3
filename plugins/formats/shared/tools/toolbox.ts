import { withFields, type Tool } from '@gw2api/gateway/plugin';
import { conformingName } from '@gw2api/gateway/plugin/format';
import { present } from '../body.js';
import { markerOf, type Marked } from '../cache-markers.js';
import type { ToolPath } from '../caller-paths.js';
import type { CallerTool } from './tools.js';
import type { UnsupportedFields } from '../unread/unsupported-fields.js';

export interface FunctionDefinition extends Marked {
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  /** Null: left to the receiver; absent: not strict. */
  readonly strict?: boolean | null | undefined;
  readonly output_schema?: unknown;
  readonly allowed_callers?: unknown;
}

export interface CustomDefinition extends Marked {
  readonly name: string;
  readonly description?: string | null;
  /** Grammar that the text must follow; the upstream is informed of it but cannot enforce it. */
  readonly grammar?: { readonly syntax: string; readonly definition: string } | undefined;
  readonly allowed_callers?: unknown;
}

/**
 * Definition of a function whose fields are those of a caller's tool. Only fields that are read are copied: a tool may
 * have very many others.
 */
export function functionDefinition(tool: Omit<FunctionDefinition, 'name'>, name: string): FunctionDefinition {
  const { parameters, strict, output_schema } = tool;
  const shared: FunctionDefinition = customDefinition(tool, name);
  return withFields(shared, present({ parameters, strict, output_schema }));
}

/** The same of a custom tool, without its grammar. */
export function customDefinition(
  { description, allowed_callers, cache_control, prompt_cache_breakpoint }: SharedFields,
  name: string,
): CustomDefinition {
  return { name, ...present({ description, allowed_callers, cache_control, prompt_cache_breakpoint }) };
}

type SharedFields = Omit<CustomDefinition, 'name' | 'grammar'>;

/** Upstream name of a tool, `^[a-zA-Z0-9_-]{1,128}$`; always the same, so that prompt caches hold. */
export function upstreamToolName({ name, namespace }: Omit<CallerTool, 'kind'>): string {
  return conformingName(namespace ? `${namespace}__${name}` : name, 128);
}

/** The tools that a request declares, in order; of several with one name the first counts. */
export class Toolbox {
  readonly #tools = new Map<string, Tool>();
  readonly #names = new Map<string, CallerTool>();
  readonly #paths = new Map<string, string>();
  readonly #dropped: UnsupportedFields;

  constructor(dropped: UnsupportedFields) {
    this.#dropped = dropped;
  }

  /** `path` is the place of the definition in the caller's body. */
  addFunction(definition: FunctionDefinition, path: string, namespace?: string): void {
    const { description, name } = definition;
    const tool = { kind: 'function', name, ...present({ namespace }) } as const;
    if (!this.#isNew(tool, path)) return;
    this.reportUnsupported(definition, path);
    this.#add(tool, path, {
      ...(description && { description }),
      ...parametersOf(definition),
      ...markerOf(definition),
    });
  }

  addCustom(definition: CustomDefinition, path: string, namespace?: string): void {
    const { name, description, grammar } = definition;
    const tool = { kind: 'custom', name, ...present({ namespace }) } as const;
    if (!this.#isNew(tool, path)) return;
    this.reportUnsupported(definition, path);
    if (grammar) this.#dropped.add(`${path}.format`);
    this.#add(tool, path, {
      ...(description && { description }),
      input_schema: textSchema(grammar),
      ...markerOf(definition),
    });
  }

  /** A server tool. A tool of the client with the same name takes precedence, and this one is reported. */
  addServer(tool: Tool, path: string): void {
    if (this.#names.has(tool.name)) this.#dropped.add(path);
    else {
      this.#tools.set(tool.name, tool);
      this.#paths.set(tool.name, path);
    }
  }

  /**
   * Places in the caller's body of the tool with this upstream name; undefined if the caller declared no such tool.
   */
  placeOf(name: string): ToolPath | undefined {
    const definition = this.#paths.get(name);
    return definition === undefined ? undefined : { definition, tool: toolPath(definition) };
  }

  get tools(): readonly Tool[] {
    return [...this.#tools.values()];
  }

  /** The client's tools by their name upstream. */
  get names(): ReadonlyMap<string, CallerTool> {
    return this.#names;
  }

  /**
   * Upstream name of a tool in a call or a choice; clients also add a namespace to tools declared without
   * one.
   */
  upstreamName({ name, namespace }: Omit<CallerTool, 'kind'>): string {
    const plain = upstreamToolName({ name });
    const full = upstreamToolName({ name, ...present({ namespace }) });
    return !this.#names.has(full) && this.#names.has(plain) ? plain : full;
  }

  /** Reports fields for programmatic callers of a tool, which are not sent to the upstream. */
  reportUnsupported(tool: Pick<FunctionDefinition, 'output_schema' | 'allowed_callers'>, path: string): void {
    for (const field of ['output_schema', 'allowed_callers'] as const)
      if (tool[field] !== undefined && tool[field] !== null) this.#dropped.add(`${path}.${field}`);
  }

  /** True for the first tool of a name; reports a second one. */
  #isNew(tool: CallerTool, path: string): boolean {
    const isNew = !this.#names.has(upstreamToolName(tool));
    if (!isNew) this.#dropped.add(toolPath(path));
    return isNew;
  }

  #add(tool: CallerTool, path: string, definition: Omit<Tool, 'name'>): void {
    const name = upstreamToolName(tool);
    this.#paths.set(name, path);
    this.#names.set(name, tool);
    this.#tools.set(name, { name, ...definition });
  }
}

/** Schema and strict as declared by the caller; each upstream fits them to its receiver. */
function parametersOf({ parameters, strict }: FunctionDefinition): Pick<Tool, 'input_schema' | 'strict'> {
  const isEmpty = !parameters || Object.keys(parameters).length === 0;
  const given = isEmpty ? emptySchema : parameters;
  return {
    input_schema: given,
    ...(strict !== undefined && { strict }),
  };
}

/** Path of a tool whose definition is at `path`: Chat nests it one level down. */
function toolPath(path: string): string {
  return path.replace(/\.(?:function|custom)$/, '');
}

const emptySchema = { type: 'object', properties: {} };

function textSchema(grammar: CustomDefinition['grammar']): Readonly<Record<string, unknown>> {
  const description = grammar && `Text that follows this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return {
    type: 'object',
    properties: { input: { type: 'string', ...present({ description }) } },
    required: ['input'],
    additionalProperties: false,
  };
}
