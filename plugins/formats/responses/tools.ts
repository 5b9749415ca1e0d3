import { Type, type ToolChoice } from '@gw2api/gateway/plugin';
import { responsesTool, type InputItem, type ResponsesBody, type ResponsesTool } from './body.js';
import { itemPath, type ResponsesInput } from './input.js';
import { bodyCheck, required } from '../shared/body.js';
import type { ToolParams } from '../shared/tools/tool-choice.js';
import { customDefinition, functionDefinition, Toolbox } from '../shared/tools/toolbox.js';
import type { CallerTools } from '../shared/tools/tools.js';
import { unreadMembers } from '../shared/unread/unread-members.js';
import { UnsupportedFields } from '../shared/unread/unsupported-fields.js';
import { webSearchTool } from '../shared/tools/web-search.js';

/**
 * Tools of a Responses body by upstream name, for the encoder. `items`: all input items, those of previous
 * responses included, as they may add tools.
 */
export function toolNames(
  body: ResponsesBody,
  items: readonly InputItem[] = Array.isArray(body.input) ? body.input : [],
): CallerTools {
  return readTools(body, { items, carried: 0 }, UnsupportedFields.none).toolbox.names;
}

export interface DeclaredTools {
  readonly toolbox: Toolbox;
  /** Descriptions of tool namespaces, for the system text. */
  readonly notes: readonly string[];
  /** Web search, the only server tool, which has one name. */
  readonly webSearch: { readonly path: string; readonly tool: ResponsesTool } | undefined;
}

interface Reading {
  readonly toolbox: Toolbox;
  readonly dropped: UnsupportedFields;
  readonly notes: string[];
  readonly webSearches: { readonly path: string; readonly tool: ResponsesTool }[];
}

/** Declared tools, and those that items of the input have added; types without a counterpart are reported. */
export function readTools(
  body: ResponsesBody,
  { items, carried }: ResponsesInput,
  dropped: UnsupportedFields,
): DeclaredTools {
  const toolbox = new Toolbox(dropped);
  const reading: Reading = { toolbox, dropped, notes: [], webSearches: [] };
  const declared = body.tools ?? [];
  declared.forEach((tool, at) => addTool(tool, `tools[${at}]`, reading));
  let definitions: Set<string> | undefined; // compared only where items add tools
  items.forEach((item, at) => {
    if (item['type'] !== 'additional_tools' && item['type'] !== 'tool_search_output') return;
    const path = itemPath(at, carried);
    const known = (definitions ??= new Set(declared.map(definitionOf)));
    checkTools(item, path).tools.forEach((tool, nth) => {
      const definition = definitionOf(tool);
      const toolPath = `${path}.tools[${nth}]`;
      if (!known.has(definition)) addTool(tool, toolPath, reading);
      else if (tool.defer_loading) dropped.add(`${toolPath}.defer_loading`);
      known.add(definition);
    });
  });
  const { notes, webSearches } = reading;
  return { toolbox, notes, webSearch: webSearches[0] };
}

/** A search finds deferred tools, and may find one again. */
function definitionOf(tool: ResponsesTool): string {
  return JSON.stringify('defer_loading' in tool ? { ...tool, defer_loading: undefined } : tool);
}

const checkTools = bodyCheck(Type.Object({ tools: Type.Array(responsesTool) }));
const checkTool = bodyCheck(responsesTool);
const reportMembers = unreadMembers(responsesTool);

function addTool(tool: ResponsesTool, path: string, reading: Reading): void {
  const add = Object.hasOwn(adders, tool.type) ? adders[tool.type] : undefined;
  if (add) add(tool, path, reading);
  else reading.dropped.add(path);
}

type ToolAdder = (tool: ResponsesTool, path: string, reading: Reading, namespace?: string) => void;

const addWebSearch: ToolAdder = (tool, path, { webSearches }) => void webSearches.push({ path, tool });

const adders: Readonly<Record<string, ToolAdder>> = {
  function: addFunction,
  custom: addCustom,
  namespace: addNamespace,
  web_search: addWebSearch,
  web_search_2025_08_26: addWebSearch,
  web_search_preview: addWebSearch,
  web_search_preview_2025_03_11: addWebSearch,
};

function addFunction(
  tool: ResponsesTool,
  path: string,
  { toolbox, dropped }: Reading,
  namespace?: string,
): void {
  reportMembers(tool, path, dropped);
  if (tool.defer_loading) dropped.add(`${path}.defer_loading`);
  const definition = functionDefinition(tool, required(tool.name, `${path}.name`));
  toolbox.addFunction({ ...definition, strict: tool.strict ?? null }, path, namespace);
}

function addCustom(
  tool: ResponsesTool,
  path: string,
  { toolbox, dropped }: Reading,
  namespace?: string,
): void {
  reportMembers(tool, path, dropped);
  const { syntax, definition } = tool.format ?? {};
  const grammar = syntax && definition ? { syntax, definition } : undefined;
  const custom = customDefinition(tool, required(tool.name, `${path}.name`));
  toolbox.addCustom({ ...custom, grammar }, path, namespace);
}

/** Turns nested tools into plain ones named `namespace__tool`; the encoder reverses it. */
function addNamespace(given: ResponsesTool, path: string, reading: Reading): void {
  const { name, description, tools } = given;
  reportMembers(given, path, reading.dropped);
  const namespace = required(name, `${path}.name`);
  if (description)
    reading.notes.push(`About the tools whose names begin with "${namespace}__": ${description}`);
  (tools ?? []).forEach((nested, at) => {
    const nestedPath = `${path}.tools[${at}]`;
    const tool = checkTool(nested, nestedPath);
    if (tool.type === 'function') addFunction(tool, nestedPath, reading, namespace);
    else if (tool.type === 'custom') addCustom(tool, nestedPath, reading, namespace);
    else reading.dropped.add(nestedPath);
  });
}

/** The web_search tool of the body if the model has one; else it is reported. */
export function addWebSearchTool(
  { toolbox, webSearch }: DeclaredTools,
  { max_tool_calls: maxUses }: ResponsesBody,
  isAllowed: boolean,
  dropped: UnsupportedFields,
): void {
  if (maxUses && !(webSearch && isAllowed)) dropped.add('max_tool_calls');
  if (!webSearch) return;
  const { path, tool: options } = webSearch;
  if (isAllowed) toolbox.addServer(webSearchTool({ path, options, maxUses }, dropped), path);
  else dropped.add(path);
}

/** `tool_choice` as the upstream knows it; a kind that Messages lacks is reported. */
export function readChoice(
  { tool_choice: choice }: ResponsesBody,
  toolbox: Toolbox,
  dropped: UnsupportedFields,
): Pick<ToolParams, 'choice' | 'allowed'> {
  if (!choice) return {};
  if (typeof choice === 'string') return { choice: words[choice] };
  if (choice.type === 'allowed_tools') {
    const allowed = (choice.tools ?? []).flatMap((tool) => upstreamName(tool, toolbox) ?? []);
    return { choice: words[choice.mode ?? 'auto'], allowed };
  }
  const name = upstreamName(choice, toolbox);
  if (name !== undefined) return { choice: { type: 'tool', name } };
  dropped.add('tool_choice');
  return {};
}

const words: Readonly<Record<string, ToolChoice | undefined>> = {
  none: { type: 'none' },
  auto: { type: 'auto' },
  required: { type: 'any' },
  any: { type: 'any' },
};

interface ToolReference {
  readonly type: string;
  readonly name?: string | null;
  readonly namespace?: string | null;
}

function upstreamName({ type, name, namespace }: ToolReference, toolbox: Toolbox): string | undefined {
  if (type.startsWith('web_search')) return 'web_search';
  if (!name || (type !== 'function' && type !== 'custom')) return undefined;
  return toolbox.upstreamName({ name, ...(namespace && { namespace }) });
}
