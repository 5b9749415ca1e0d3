import type { ToolChoice } from '@gw2api/gateway/plugin';
import type { ChatBody, ChatTool } from './body.js';
import { addFlatTool, isFlat } from './flat-tools.js';
import { required } from '../shared/body.js';
import type { ToolParams } from '../shared/tools/tool-choice.js';
import {
  Toolbox,
  upstreamToolName,
  type CustomDefinition,
  type FunctionDefinition,
} from '../shared/tools/toolbox.js';
import type { CallerTools } from '../shared/tools/tools.js';
import { UnsupportedFields } from '../shared/unread/unsupported-fields.js';

/** Tools of a Chat body by their upstream name, from which the encoder names calls. */
export function toolNames(body: ChatBody): CallerTools {
  return readTools(body, UnsupportedFields.none).names;
}

/** Declared functions and custom tools; other types are reported. */
export function readTools({ tools, functions }: ChatBody, dropped: UnsupportedFields): Toolbox {
  const toolbox = new Toolbox(dropped);
  (tools ?? []).forEach((tool, at) => addTool(tool, `tools[${at}]`, toolbox, dropped));
  (functions ?? []).forEach((definition, at) =>
    toolbox.addFunction(functionOf(definition), `functions[${at}]`),
  );
  return toolbox;
}

function addTool(tool: ChatTool, path: string, toolbox: Toolbox, dropped: UnsupportedFields): void {
  const type = tool.type ?? 'function';
  toolbox.reportUnsupported(tool, path);
  const marker = tool.cache_control ?? undefined;
  if (isFlat(tool)) addFlatTool(tool, path, toolbox);
  else if (type === 'function') {
    const definition = required(tool.function, `${path}.function`);
    toolbox.addFunction(functionOf(definition, marker), `${path}.function`);
  } else if (type === 'custom') {
    const definition = required(tool.custom, `${path}.custom`);
    const grammar = definition.format?.grammar ?? undefined;
    toolbox.addCustom({ ...knownFields(definition, marker), grammar }, `${path}.custom`);
  } else dropped.add(path);
}

/** Definition of a function; in Chat one without `strict` is not strict. */
function functionOf(definition: FunctionDefinition, marker?: Marker): FunctionDefinition {
  const { parameters, strict, output_schema } = definition;
  const own = { strict: strict ?? undefined, output_schema, ...(parameters !== undefined && { parameters }) };
  return { ...knownFields(definition, marker), ...own };
}

/** The fields that both kinds have; a copy of all fields of a caller may cost seconds. */
function knownFields(
  definition: CustomDefinition,
  marker: Marker = definition.cache_control,
): CustomDefinition {
  const { name, description, allowed_callers } = definition;
  return {
    name,
    allowed_callers,
    ...(description !== undefined && { description }),
    ...(marker && { cache_control: marker }),
  };
}

type Marker = CustomDefinition['cache_control'];

/** `tool_choice`, or `function_call` (deprecated); a kind of choice that Messages lacks is reported. */
export function readChoice(
  body: ChatBody,
  dropped: UnsupportedFields,
): Pick<ToolParams, 'choice' | 'allowed'> {
  const { tool_choice: choice, function_call: legacy } = body;
  if (typeof choice === 'string') return { choice: words[choice] };
  if (!choice)
    return { choice: typeof legacy === 'object' && legacy ? named(legacy.name) : words[legacy ?? ''] };
  const { type, allowed_tools: allowed } = choice;
  if (type === 'allowed_tools') {
    const { mode, tools } = required(allowed, 'tool_choice.allowed_tools');
    return { choice: words[mode], allowed: tools.flatMap(nameOf).map((name) => upstreamToolName({ name })) };
  }
  const [name] = nameOf(choice);
  if (name !== undefined) return { choice: named(name) };
  if (Object.hasOwn(words, type)) return { choice: words[type] };
  dropped.add('tool_choice');
  return {};
}

const words: Readonly<Record<string, ToolChoice | undefined>> = {
  none: { type: 'none' },
  auto: { type: 'auto' },
  required: { type: 'any' },
  any: { type: 'any' },
};

function named(name: string): ToolChoice {
  return { type: 'tool', name: upstreamToolName({ name }) };
}

type Named = { readonly name: string } | null;

interface ToolReference {
  readonly function?: Named;
  readonly custom?: Named;
  readonly name?: string | null;
}

function nameOf(entry: ToolReference): readonly string[] {
  const name = entry.function?.name ?? entry.custom?.name ?? entry.name;
  return name ? [name] : [];
}
