import { valuesAt } from './paths.js';
import { all, any, everywhere, field, text, type Part, type Place } from './places.js';

/** The same place for Chat and Responses bodies. */
function functions(path: string, values: readonly unknown[], messages: Place): Part['in'] {
  return {
    messages,
    chat: any(field(`tools[*].function.${path}`, ...values)),
    responses: field(`tools[*].${path}`, ...values),
  };
}

const strictTool: Part = {
  of: /tools\[0\]/,
  in: functions('strict', [true], field('tools[*].strict', true)),
};

/** One call at a time. */
const single: Part = {
  of: /^(?:parallel_tool_calls|tool_choice)/,
  in: {
    messages: field('tool_choice.disable_parallel_tool_use', true),
    chat: field('parallel_tool_calls', false),
    responses: field('parallel_tool_calls', false),
  },
};

/** A choice by name, or of the one tool that is offered. */
const chosen: Part = {
  of: /^tool_choice/,
  in: {
    messages: all(field('tool_choice.type', 'tool', 'any'), field('tools[*].name', 'get_weather')),
    chat: any(
      field('tool_choice.function.name', 'get_weather'),
      all(field('tool_choice', 'required'), offersAlone('get_weather', 'tools[*].function.name')),
    ),
    responses: any(
      field('tool_choice.name', 'get_weather'),
      all(field('tool_choice', 'required'), offersAlone('get_weather', 'tools[*].name')),
    ),
  },
};

/** A forced call of one of two tools. */
const allowed: Part = {
  of: /^tool_choice/,
  in: {
    messages: all(field('tool_choice.type', 'any'), offersAlone('get_weather', 'tools[*].name')),
    chat: any(
      field('tool_choice.allowed_tools.mode', 'required'),
      all(field('tool_choice', 'required'), offersAlone('get_weather', 'tools[*].function.name')),
    ),
    responses: any(
      field('tool_choice.mode', 'required'),
      all(field('tool_choice', 'required'), offersAlone('get_weather', 'tools[*].name')),
    ),
  },
};

function offersAlone(name: string, path: string): Place {
  return ([call]) => valuesAt(call?.body, path).join() === name;
}

const webSearch: Part = {
  of: /^(?:tools\[0\]|web_search_options)/,
  in: { messages: text('tools[*].type', 'web_search'), responses: text('tools[*].type', 'web_search') },
};

/** A tool that a vendor or the caller's machine runs, by the text that tells it from others. */
function hosted(mark: string, path: RegExp = /^tools\[0\]/): Part {
  return { of: path, in: { messages: text('tools', mark), responses: text('tools', mark) } };
}

/** Custom tool as itself, or as a function of one text. */
const customTool: Part = { of: /^tools\[0\]/, in: everywhere(text('tools', 'CUSTMARK')) };

/** Parts of features by their names, those of tools and choices. */
export const toolParts: Readonly<Record<string, readonly Part[]>> = {
  'strict tool': [strictTool],
  'strict tool, optional property': [strictTool],
  'named tool choice': [chosen],
  allowed_tools: [allowed],
  'parallel_tool_calls false': [single],
  disable_parallel_tool_use: [single],
  'custom tool': [customTool],
  'custom tool stays type custom': [customTool],
  'custom tool grammar': [{ of: /^tools\[0\]/, in: {} }],
  web_search_options: [webSearch],
  'web_search tool': [webSearch],
  code_interpreter: [hosted('code_interpreter')],
  image_generation: [hosted('image_generation')],
  local_shell: [hosted('local_shell')],
  'computer tool': [hosted('computer_20250124')],
  'bash tool (client runs it)': [hosted('bash_20250124')],
  'namespace tool': [{ of: /^tools\[0\]/, in: everywhere(all(text('', 'NSMARK'), text('tools', 'inner'))) }],
  defer_loading: [{ of: /defer_loading/, in: { messages: field('tools[*].defer_loading', true) } }],
};
