import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { contentScenarios, type AnswerContext } from '../scenarios/content-scenarios.js';
import { instanceOf } from './instance.js';
import { lastUserText, withoutMarkers } from '../scenarios/marker.js';
import { limit, stopAt, textPart, type Part, type Plan } from './part.js';
import { resumedPlan, searchParts, wantsSearch } from './search-parts.js';
import { sealed, thinkingMark } from './seal.js';
import { isObject } from '../rules/shape.js';
import { callParts, lastToolResult, toolsToCall } from './tool-parts.js';

/** Plans a made-up answer; the same request always gets the same plan. */
export function planAnswer(context: AnswerContext): Plan {
  const plan = planContent(context);
  const parts = [...thinkingParts(context), ...plan.parts];
  const stopped = stopAt({ ...plan, parts }, context.request.stop_sequences ?? []);
  return limit(stopped, context.request.max_tokens ?? Infinity);
}

/** The last content scenario decides; without one the answer follows the request. */
function planContent(context: AnswerContext): Plan {
  const scenario = context.scenarios.findLast(({ name }) => Object.hasOwn(contentScenarios, name));
  const planScenario = scenario && contentScenarios[scenario.name]?.plan;
  return planScenario?.(context, scenario?.params ?? {}) ?? planOrdinary(context);
}

function planOrdinary(context: AnswerContext): Plan {
  const { request, seed, random } = context;
  const tools = toolsToCall(request);
  if (tools.length > 0) {
    const isForced = request.tool_choice?.type === 'any' || request.tool_choice?.type === 'tool';
    const intro = isForced ? [] : [textPart(`I'll call ${tools.map(({ name }) => name).join(' and ')}.`)];
    return { parts: [...intro, ...callParts(tools, context)], stopReason: 'tool_use' };
  }
  const resumed = resumedPlan(request, seed, 1);
  if (resumed) return resumed;
  if (wantsSearch(request)) return { parts: searchParts(request, seed), stopReason: 'end_turn' };
  const schema = wantedSchema(request);
  const text = schema === undefined ? plainText(request) : JSON.stringify(instanceOf(schema, random));
  return { parts: [textPart(text)], stopReason: 'end_turn' };
}

function plainText(request: MessagesRequest): string {
  const result = lastToolResult(request);
  const said = withoutMarkers(lastUserText(request)) || '(nothing in words)';
  const reply = result === undefined ? `You said: ${shorten(said)}` : `The tool answered: ${shorten(result)}`;
  return `This is the gw2api simulator, not a model. ${reply}`;
}

function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** Scenarios ask for thinking that the request did not enable; a redacted block takes its place. */
function thinkingParts({ request, scenarios }: AnswerContext): readonly Part[] {
  const { thinking } = request;
  const text = `${thinkingMark} The last message has ${lastUserText(request).length} characters. I make something up.`;
  if (scenarios.some(({ name }) => name === 'redacted'))
    return [{ kind: 'whole', block: { type: 'redacted_thinking', data: sealed('redacted', text) } }];
  const isAsked = scenarios.some(({ name }) => name === 'thinking');
  const isOn = thinking?.type === 'enabled' || thinking?.type === 'adaptive';
  return isAsked || isOn ? [{ kind: 'thinking', text, isHidden: thinking?.['display'] === 'omitted' }] : [];
}

function wantedSchema({ output_config, output_format }: MessagesRequest): unknown {
  return output_config?.format?.schema ?? (isObject(output_format) ? output_format['schema'] : undefined);
}
