import type { ToolChoice } from 'gw2api/plugin';
import type { ChatBody, ChatTool } from './body.js';
import { addFlatTool, isFlat } from './flat-tools.js';
import { required } from '../shared/body.js';
import type { ToolParams } from '../shared/tool-choice.js';
import { Toolbox, upstreamToolName } from '../shared/toolbox.js';
import type { CallerTools } from '../shared/tools.js';
import { UnsupportedFields } from '../shared/unsupported-fields.js';

/** The tools of a Chat body by their name upstream: what the encoder names calls by. */
export function toolNames(body: ChatBody): CallerTools {
  const dropped = new UnsupportedFields();
  return readTools(body, dropped).names;
}

/** Declared functions and custom tools; other types are reported. */
export function readTools({ tools, functions }: ChatBody, dropped: UnsupportedFields): Toolbox {
  const toolbox = new Toolbox(dropped);
  (tools ?? []).forEach((tool, at) => addTool(tool, `tools[${at}]`, toolbox, dropped));
  (functions ?? []).forEach((definition, at) =>
    toolbox.addFunction(withoutNullStrict(definition), `functions[${at}]`),
  );
  return toolbox;
}

function addTool(tool: ChatTool, path: string, toolbox: Toolbox, dropped: UnsupportedFields): void {
  const type = tool.type ?? 'function';
  toolbox.reportUnsupported(tool, path);
  const marker = tool.cache_control ? { cache_control: tool.cache_control } : {};
  if (isFlat(tool)) addFlatTool(tool, path, toolbox);
  else if (type === 'function') {
    const definition = withoutNullStrict(required(tool.function, `${path}.function`));
    toolbox.addFunction({ ...definition, ...marker }, `${path}.function`);
  } else if (type === 'custom') {
    const { format, ...definition } = required(tool.custom, `${path}.custom`);
    toolbox.addCustom({ ...definition, ...marker, grammar: format?.grammar ?? undefined }, `${path}.custom`);
  } else dropped.add(path);
}

/** In Chat a function that says nothing of strict is not. */
function withoutNullStrict<Definition extends { readonly strict?: boolean | null }>(definition: Definition) {
  return { ...definition, strict: definition.strict ?? undefined };
}

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
