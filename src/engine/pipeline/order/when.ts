import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Conditions, When } from '../../../config/config.js';
import { conditionNeeds, conditionTexts } from './conditions.js';
import {
  defaultStickyFrom,
  globMatcher,
  sessionName,
  type GatewayState,
  type Models,
} from '../../../plugin/index.js';
import { callerMatcher } from './caller-patterns.js';

/** Parts that only some kinds of requests have: a model, a caller, a delivery or a body. */
type Seeded = Pick<GatewayState, 'format' | 'operation' | 'requestId'> &
  Partial<Pick<GatewayState, 'request' | 'caller' | 'delivery' | 'body'>>;

/** The part of a request's context that conditions read. */
export interface Conditional {
  readonly state: object;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Predicate over requests, true if every part of `when` matches; undefined without conditions. */
export function whenMatcher(
  when: When | undefined,
  models: Models,
): ((request: Conditional) => boolean) | undefined {
  if (!when) return undefined;
  const tests = [...presenceTests(when), ...testsOf(when, models)];
  const excluded = when.not && testsOf(when.not, models);
  return ({ state, headers, path }) => {
    const matches = (test: Test): boolean => test(state as Seeded, headers, path); // the core has seeded it
    return tests.every(matches) && !excluded?.every(matches);
  };
}

/** Function that reports the unmet parts of `when` for a request, in words; undefined without conditions. */
export function unmetConditions(
  when: When | undefined,
  models: Models,
): ((request: Conditional) => readonly string[]) | undefined {
  if (!when) return undefined;
  const parts = partsOf(when).map((part) => ({
    text: conditionTexts(part).join(', '),
    matches: whenMatcher(part, models),
  }));
  return (request) => parts.flatMap(({ text, matches }) => (matches?.(request) === false ? [text] : []));
}

/** Conditions one by one, each as a `when` of its own. */
function partsOf({ header = {}, claim = {}, ...others }: When): readonly When[] {
  const headers = Object.entries(header).map(([name, globs]) => ({ header: { [name]: globs } }));
  const claims = Object.entries(claim).map(([name, globs]) => ({ claim: { [name]: globs } }));
  return [...Object.entries(others).map(([name, value]) => ({ [name]: value })), ...claims, ...headers];
}

type Test = (state: Seeded, headers: IncomingHttpHeaders, path: string) => boolean;

/**
 * Tests that requests have the keys that `not` reads: a request without a model does not count as one of another model.
 */
function presenceTests({ not }: When): readonly Test[] {
  return conditionNeeds(not).map(
    ({ key }) =>
      (state) =>
        (state as Partial<GatewayState>)[key] !== undefined,
  );
}

function testsOf(conditions: Conditions, models: Models): readonly Test[] {
  const {
    format,
    operation,
    model,
    caller,
    team,
    claim = {},
    path,
    header = {},
    stream,
    sample,
  } = conditions;
  const tests: Test[] = Object.entries(header).map(([name, globs]) => headerTest(name, globs));
  if (format) tests.push((state) => format.includes(state.format));
  if (operation) tests.push((state) => operation.includes(state.operation));
  if (model) tests.push(modelTest(model, models));
  if (caller) tests.push(callerTest(caller));
  if (team) tests.push(teamTest(team));
  tests.push(...Object.entries(claim).map(([name, globs]) => claimTest(name, globs)));
  if (path) tests.push(pathTest(path));
  if (stream !== undefined) tests.push(({ delivery }) => delivery === (stream ? 'stream' : 'whole'));
  if (sample !== undefined) tests.push((state, headers) => positionOf(state, headers) < sample);
  return tests;
}

function headerTest(name: string, globs: readonly string[]): Test {
  const matches = globMatcher(globs);
  return (_, headers) => {
    const value = headers[name];
    return value !== undefined && matches([value].flat().join(', '));
  };
}

function modelTest(globs: readonly string[], models: Models): Test {
  const matches = globMatcher(globs);
  return ({ request }) => request !== undefined && matches(models.find(request.model)?.id ?? request.model);
}

function callerTest(globs: readonly string[]): Test {
  const matches = callerMatcher(globs);
  return ({ caller }) => caller !== undefined && matches(caller);
}

function teamTest(globs: readonly string[]): Test {
  const matches = globMatcher(globs);
  return ({ caller }) => {
    const team = caller?.team;
    return team !== undefined && (matches(team.id) || matches(team.name));
  };
}

/** Claims may be texts, numbers, booleans, and lists of these. */
function claimTest(name: string, globs: readonly string[]): Test {
  const matches = globMatcher(globs);
  return ({ caller }) => {
    const claims = caller?.claims;
    const value = claims && Object.hasOwn(claims, name) ? claims[name] : undefined;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.some((each) => isScalar(each) && matches(String(each)));
  };
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function pathTest(globs: readonly string[]): Test {
  const matches = globMatcher(globs);
  return (_state, _headers, path) => matches(path.replace(/^\/v1(?=\/)/, ''));
}

/**
 * Position of a request's session among all, from 0 to 100; of the request if it has no session. The same in every
 * stage, so that one experiment can span several of them.
 */
function positionOf({ body, request, requestId }: Seeded, headers: IncomingHttpHeaders): number {
  const name = sessionName(headers, { from: defaultStickyFrom, body, request }) ?? requestId;
  return (createHash('sha256').update(name).digest().readUInt32BE(0) / 2 ** 32) * 100;
}
