import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { planAnswer } from './answer/answer.js';
import { answerHeaders } from './answer/answer-headers.js';
import { countPrompt, type PromptCache } from './answer/cache.js';
import { deliverStream, deliverWhole } from './answer/delivery.js';
import type { RecordedRequest } from './recorded-request.js';
import { inject } from './scenarios/faults.js';
import { framingOf } from './answer/framing.js';
import { lastUserText, type Scenario } from './scenarios/marker.js';
import { messageEvents } from './answer/message-events.js';
import { describeModel, findModel, listedModels, type ModelTable } from './models.js';
import { idFrom, randomFrom } from './random.js';
import { Refusal } from './refusal.js';
import { checkCount, checkGenerate, type RuleContext } from './rules/rules.js';
import type { ScenarioSelector } from './scenarios/scenarios.js';
import { isObject } from './rules/shape.js';
import { stepsOf } from './scenarios/stream-scenarios.js';

/** State and settings that the operations of one simulator share. */
export interface SimulatorContext {
  readonly cache: PromptCache;
  readonly selector: ScenarioSelector;
  /** Scenarios that apply to every request, in the syntax of a marker. */
  readonly faults: readonly string[];
  readonly models: ModelTable;
  readonly maxBodyBytes: number;
  readonly hasCountTokens: boolean;
  readonly hasModelList: boolean;
}

type Operation = (exchange: RecordedRequest, context: SimulatorContext) => void | Promise<void>;

/** Operation of each method and path; `:id` matches any last segment. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/messages': generate,
  'POST /v1/messages/count_tokens': countTokens,
  'GET /v1/models': listModels,
  'GET /v1/models/:id': getModel,
  'GET /': (exchange) => answerJson(exchange, { name: 'gw2api simulator' }),
  'HEAD /': (exchange) => answerJson(exchange, {}),
};

async function generate(exchange: RecordedRequest, context: SimulatorContext): Promise<void> {
  const scenarios = await admit(exchange, context, 'generate');
  if (!scenarios) return;
  const request = checkGenerate(exchange.body, rulesFor(exchange, context));
  refuseUnknownModel(request.model);
  const seed = JSON.stringify([request.model, request.messages]);
  const random = randomFrom(seed);
  const plan = planAnswer({ request, headers: exchange.headers, scenarios, seed, random });
  const envelope = {
    id: idFrom('msg', seed),
    model: request.model,
    prompt: context.cache.use(request, exchange.credential),
    random,
  };
  const steps = stepsOf(messageEvents(plan, envelope), scenarios);
  const headers = answerHeaders(exchange.requestId, exchange.now(), scenarios);
  if (request.stream) await deliverStream(exchange, steps, framingOf(scenarios), headers);
  else await deliverWhole(exchange, steps, headers);
}

async function countTokens(exchange: RecordedRequest, context: SimulatorContext): Promise<void> {
  if (!context.hasCountTokens) throw new Refusal(404, 'Not found');
  const scenarios = await admit(exchange, context, 'count-tokens');
  if (!scenarios) return;
  const request = checkCount(exchange.body, rulesFor(exchange, context));
  refuseUnknownModel(request.model);
  answerJson(exchange, { input_tokens: countPrompt(request) }, scenarios);
}

async function listModels(exchange: RecordedRequest, context: SimulatorContext): Promise<void> {
  if (!context.hasModelList) throw new Refusal(404, 'Not found');
  const scenarios = await admit(exchange, context, 'models');
  if (!scenarios) return;
  const query = new URLSearchParams(exchange.search);
  const ids = idsOf(context);
  const rest = ids.slice(ids.indexOf(query.get('after_id') ?? '') + 1);
  const page = rest.slice(0, Number(query.get('limit') ?? 20));
  const data = page.map((id) => describeModel(id, context.models));
  const has_more = page.length < rest.length;
  answerJson(exchange, { data, has_more, first_id: page[0], last_id: page.at(-1) }, scenarios);
}

function getModel(exchange: RecordedRequest, context: SimulatorContext): void {
  const id = decodeURIComponent(exchange.path.split('/').at(-1) ?? '');
  if (!idsOf(context).includes(id)) throw new Refusal(404, `model: ${id}`);
  answerJson(exchange, describeModel(id, context.models));
}

function idsOf({ models }: SimulatorContext): readonly string[] {
  return [...new Set([...Object.keys(listedModels), ...Object.keys(models)])];
}

/** Scenarios of a request; undefined if a fault has handled it. Throws the answers of faults. */
async function admit(
  exchange: RecordedRequest,
  context: SimulatorContext,
  operation: string,
): Promise<readonly Scenario[] | undefined> {
  const text = readableText(exchange.body);
  const label = exchange.headers['x-simulator-label'] ?? '';
  const asked = { operation, credential: exchange.credential, label, text };
  const scenarios = context.selector.select(asked, context.faults);
  return (await inject(exchange, scenarios)) ? undefined : scenarios;
}

/** Scenarios apply to wrong requests too, so the text is searched before the request has been checked. */
function readableText(body: unknown): string {
  if (!isObject(body) || !Array.isArray(body['messages'])) return '';
  const messages = body['messages'].filter((message) => isObject(message) && isContent(message['content']));
  return lastUserText({ messages: messages as MessagesRequest['messages'] }); // the fields that lastUserText reads were checked
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || (Array.isArray(content) && content.every(isObject));
}

function rulesFor({ headers }: RecordedRequest, { models }: SimulatorContext): RuleContext {
  return { version: headers['anthropic-version'] ?? '', model: (id) => findModel(id, models) };
}

/** Refuses an unknown model: one whose name says so. */
function refuseUnknownModel(model: string): void {
  if (model.startsWith('no-such-model')) throw new Refusal(404, `model: ${model}`);
}

function answerJson(exchange: RecordedRequest, body: object, scenarios: readonly Scenario[] = []): void {
  const headers = answerHeaders(exchange.requestId, exchange.now(), scenarios);
  exchange.answerWith(200, 'application/json', JSON.stringify(body), headers);
}
