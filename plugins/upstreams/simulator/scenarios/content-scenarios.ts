import type { MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import { numberOf, type Scenario } from './marker.js';
import { textPart, type Part, type Plan } from '../answer/part.js';
import type { Random } from '../random.js';
import { pausedPlan, resumedPlan, searchParts } from '../answer/search-parts.js';
import { thinkingMark } from '../answer/seal.js';
import { callableTools, callParts } from '../answer/tool-parts.js';

/** One request to answer. */
export interface AnswerContext {
  readonly request: MessagesRequest;
  readonly headers: Readonly<Record<string, string>>;
  readonly scenarios: readonly Scenario[];
  /** Seed of every id in the answer. */
  readonly seed: string;
  readonly random: Random;
}

interface ContentScenario {
  readonly help: string;
  /** Undefined: the content stays unchanged. */
  readonly plan?: (context: AnswerContext, params: Scenario['params']) => Plan | undefined;
}

/** Scenarios that determine the answer's content; the last one in a message counts. */
export const contentScenarios: Readonly<Record<string, ContentScenario>> = {
  text: { help: 'what the request asks for, as without any scenario', plan: () => undefined },
  'empty-turn': { help: 'no blocks, end_turn', plan: () => ended([]) },
  refusal: {
    help: 'no blocks, stop_reason refusal with stop_details',
    plan: () => ({ parts: [], stopReason: 'refusal', stopDetails: refusalDetails }),
  },
  tokens: {
    help: 'n=64: text in n deltas of 4 bytes',
    plan: (_, params) => ended([fixedText(' tok', numberOf(params, 'n', 64))]),
  },
  size: {
    help: 'kb=1024: a text of that size, whatever max_tokens says',
    plan: (_, params) => ended([{ ...fixedText(kilobyte, numberOf(params, 'kb', 1024)), isUnlimited: true }]),
  },
  echo: {
    help: 'echo=system: the text is that part of the request as JSON (a.0.b, headers, or all of it)',
    plan: (context, params) =>
      ended([textPart(JSON.stringify(partOf(context, params['echo'] ?? '')) ?? 'null')]),
  },
  say: { help: 'text="…": the text of the answer', plan: (_, { text = '' }) => ended([textPart(text)]) },
  surrogates: {
    help: 'emoji whose surrogate pairs are split over two deltas',
    plan: () => ended([{ kind: 'text', text: 'Pairs: 🌍🚀👩‍🚀 done.', deltaLength: 1 }]),
  },
  tool: {
    help: 'name=…: calls that tool (default the first one)',
    plan: (context, { name }) => called(context, chosenTools(context.request, name).slice(0, 1)),
  },
  parallel: {
    help: 'n=2: that many tool calls, through the tools in turn',
    plan: (context, params) =>
      called(context, inTurn(chosenTools(context.request), numberOf(params, 'n', 2))),
  },
  'no-args': {
    help: 'name=…: a tool call whose only input_json_delta is empty',
    plan: (context, { name }) => called(context, chosenTools(context.request, name).slice(0, 1), false),
  },
  interleave: { help: 'text, thinking, tool, text, thinking, tool', plan: interleaved },
  search: {
    help: 'a web search with cited text',
    plan: ({ request, seed }) => ended(searchParts(request, seed)),
  },
  pause: {
    help: 'n=1: pause_turn in the middle of a search, n times in a row',
    plan: ({ request, seed }, params) =>
      resumedPlan(request, seed, numberOf(params, 'n', 1)) ?? pausedPlan(request, seed),
  },
  'unknown-events': {
    help: 'unknown event, block and delta types among the others',
    plan: () =>
      ended([{ kind: 'whole', block: futureBlock }, textPart('There were unknown things before this.')]),
  },
  thinking: { help: 'a signed thinking block even where thinking is off' },
  redacted: { help: 'a redacted_thinking block first' },
};

const kilobyte = 'All of this text is made up. '.repeat(36).slice(0, 1024);

const refusalDetails = {
  type: 'refusal',
  category: 'simulated',
  explanation: 'The simulator was asked to refuse.',
};

// A type that the gateway cannot know: that is what the scenario is for.
const futureBlock = { type: 'future_block', note: 'of a later version' } as unknown as Extract<
  Part,
  { kind: 'whole' }
>['block'];

function ended(parts: readonly Part[]): Plan {
  return { parts, stopReason: 'end_turn' };
}

function called(context: AnswerContext, tools: readonly Tool[], hasArguments = true): Plan {
  if (tools.length === 0) return ended([textPart('The simulator has no tool to call.')]);
  return { parts: callParts(tools, context, hasArguments), stopReason: 'tool_use' };
}

function fixedText(unit: string, count: number): Extract<Part, { kind: 'text' }> {
  return { kind: 'text', text: unit.repeat(count), deltaLength: unit.length };
}

/** The named tool, declared or not; without a name all that can be called. */
function chosenTools(request: MessagesRequest, name?: string): readonly Tool[] {
  if (name === undefined) return callableTools(request);
  return [request.tools?.find((tool) => tool.name === name) ?? { name }];
}

function inTurn(tools: readonly Tool[], count: number): readonly Tool[] {
  return Array.from(
    { length: tools.length === 0 ? 0 : count },
    (_, at) => tools[at % tools.length] ?? [],
  ).flat();
}

function interleaved(context: AnswerContext): Plan {
  const tools = inTurn([...chosenTools(context.request), { name: 'lookup' }], 2);
  const rounds = callParts(tools, context).flatMap((call, at): readonly Part[] => [
    textPart(`Round ${at + 1} begins.`),
    { kind: 'thinking', text: `${thinkingMark} Round ${at + 1}.` },
    call,
  ]);
  return { parts: rounds, stopReason: 'tool_use' };
}

function partOf({ request, headers }: AnswerContext, path: string): unknown {
  const keys = path.split('.').filter(Boolean);
  return keys.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null
        ? Object.entries(at).find(([name]) => name === key)?.[1]
        : undefined,
    keys[0] === 'headers' ? { headers } : request,
  );
}
