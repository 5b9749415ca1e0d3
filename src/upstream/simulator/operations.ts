import type { MessagesRequest } from '../../plugin/index.js';
import { planAnswer } from './answer.js';
import { answerHeaders } from './answer-headers.js';
import { countPrompt, type PromptCache } from './cache.js';
import { deliverStream, deliverWhole } from './delivery.js';
import type { Exchange } from './exchange.js';
import { strike } from './faults.js';
import { framingOf } from './framing.js';
import { lastUserText, type Scenario } from './marker.js';
import { messageEvents } from './message-events.js';
import { findModel, listedModels, type SimulatedModel } from './models.js';
import { idFrom, randomFrom } from './random.js';
import { Refusal } from './refusal.js';
import { checkCount, checkGenerate, type RuleContext } from './rules.js';
import type { ScenarioBook } from './scenarios.js';
import { isObject } from './shape.js';
import { stepsOf } from './stream-scenarios.js';

/** What the operations of one simulator share. */
export interface Desk {
  readonly cache: PromptCache;
  readonly book: ScenarioBook;
  /** Scenarios that hold for every request, as they would stand in a marker. */
  readonly faults: readonly string[];
  readonly models: Readonly<Record<string, Partial<SimulatedModel>>>;
  readonly maxBodyBytes: number;
  readonly hasCountTokens: boolean;
}

type Operation = (exchange: Exchange, desk: Desk) => void | Promise<void>;

/** What answers each method and path; `:id` stands for any last segment. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/messages': generate,
  'POST /v1/messages/count_tokens': countTokens,
  'GET /v1/models': listModels,
  'GET /v1/models/:id': getModel,
  'GET /': (exchange) => answerJson(exchange, { name: 'gw2api simulator' }),
  'HEAD /': (exchange) => answerJson(exchange, {}),
};

async function generate(exchange: Exchange, desk: Desk): Promise<void> {
  const scenarios = await admit(exchange, desk, 'generate');
  if (!scenarios) return;
  const request = checkGenerate(exchange.body, rulesFor(exchange, desk));
  refuseUnknownModel(request.model);
  const seed = JSON.stringify([request.model, request.messages]);
  const random = randomFrom(seed);
  const plan = planAnswer({ request, headers: exchange.headers, scenarios, seed, random });
  const envelope = {
    id: idFrom('msg', seed),
    model: request.model,
    prompt: desk.cache.use(request, exchange.credential),
    random,
  };
  const steps = stepsOf(messageEvents(plan, envelope), scenarios);
  const headers = answerHeaders(exchange.requestId, exchange.now(), scenarios);
  if (request.stream) await deliverStream(exchange, steps, framingOf(scenarios), headers);
  else await deliverWhole(exchange, steps, headers);
}

async function countTokens(exchange: Exchange, desk: Desk): Promise<void> {
  if (!desk.hasCountTokens) throw new Refusal(404, 'Not found');
  const scenarios = await admit(exchange, desk, 'count-tokens');
  if (!scenarios) return;
  const request = checkCount(exchange.body, rulesFor(exchange, desk));
  refuseUnknownModel(request.model);
  answerJson(exchange, { input_tokens: countPrompt(request) }, scenarios);
}

async function listModels(exchange: Exchange, desk: Desk): Promise<void> {
  const scenarios = await admit(exchange, desk, 'models');
  const data = Object.keys(listedModels).map(describeModel);
  if (scenarios)
    answerJson(
      exchange,
      { data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id },
      scenarios,
    );
}

function getModel(exchange: Exchange): void {
  const id = decodeURIComponent(exchange.path.split('/').at(-1) ?? '');
  if (!Object.hasOwn(listedModels, id)) throw new Refusal(404, `model: ${id}`);
  answerJson(exchange, describeModel(id));
}

/** The scenarios of a request; undefined where a fault among them has dealt with it. Throws what a fault answers. */
async function admit(
  exchange: Exchange,
  desk: Desk,
  operation: string,
): Promise<readonly Scenario[] | undefined> {
  const text = readableText(exchange.body);
  const asked = { operation, credential: exchange.credential, text };
  const scenarios = desk.book.select(asked, desk.faults);
  return (await strike(exchange, scenarios)) ? undefined : scenarios;
}

/** Scenarios hold for wrong requests too, so the text is looked for before the request has been checked. */
function readableText(body: unknown): string {
  if (!isObject(body) || !Array.isArray(body['messages'])) return '';
  const messages = body['messages'].filter((message) => isObject(message) && isContent(message['content']));
  return lastUserText({ messages: messages as MessagesRequest['messages'] }); // what lastUserText reads was checked
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || (Array.isArray(content) && content.every(isObject));
}

function rulesFor({ headers }: Exchange, { models }: Desk): RuleContext {
  return { version: headers['anthropic-version'] ?? '', model: (id) => findModel(id, models) };
}

/** Any model is known but those whose names say that they are not. */
function refuseUnknownModel(model: string): void {
  if (model.startsWith('no-such-model')) throw new Refusal(404, `model: ${model}`);
}

function answerJson(exchange: Exchange, body: object, scenarios: readonly Scenario[] = []): void {
  const headers = answerHeaders(exchange.requestId, exchange.now(), scenarios);
  exchange.answerWith(200, 'application/json', JSON.stringify(body), headers);
}

function describeModel(id: string): { id: string; type: 'model'; display_name: string; created_at: string } {
  return { type: 'model', id, display_name: `Simulated ${id}`, created_at: '2026-01-01T00:00:00Z' };
}
