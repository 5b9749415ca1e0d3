import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import {
  definePlugin,
  estimateTokens,
  globMatcher,
  Type,
  type MessagesRequest,
  type Models,
} from '@gw2api/gateway/plugin';
import { forOtherModel } from './shared/other-model.js';
import { findMatch } from './shared/long-search.js';
import { compilePattern, type Pattern } from './shared/patterns.js';
import { SearchTime, type SearchTurn } from './shared/search-time.js';

const Globs = Type.Array(Type.String({ minLength: 1 }), { minItems: 1 });

const RouteOption = Type.Object({
  to: Type.String({ minLength: 1, description: 'Catalog id, or another name that a slot serves.' }),
  model: Type.Optional({ ...Globs, description: 'Catalog ids of the asked model; * is any text.' }),
  header: Type.Optional(
    Type.Record(Type.String(), Globs, {
      description: 'Headers that must be present, with one of these values.',
    }),
  ),
  minTokens: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The prompt in estimated tokens (a quarter of its bytes): system, tools and messages.',
    }),
  ),
  maxTokens: Type.Optional(Type.Integer({ minimum: 1, description: 'Max estimated tokens of the prompt.' })),
  pattern: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2000,
      description: 'In the text of the last message, in the syntax of RE2.',
    }),
  ),
});

/** Sends requests to other models by rules, of which the first that matches decides. */
export default definePlugin({
  name: 'model-router',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  keepsPrefix: false,
  operations: ['generate', 'count-tokens'],
  options: Type.Object({
    routes: Type.Array(RouteOption, {
      minItems: 1,
      description:
        'Tried in order; every condition of a route must hold. A request that none matches keeps its model.',
    }),
  }),
  setup({ routes }, host) {
    const idOf = (name: string): string => (host.models.find(name) ? host.models.idOf(name) : name);
    const compiled = routes.map((route, at) => ({
      to: idOf(route.to),
      tests: testsOf(route, at, host.models),
    }));
    return async function modelRouter(ctx, next) {
      const { request } = ctx.state;
      const time = SearchTime.of(ctx.req, host.clock.monotonicMs);
      const route = await firstRoute(compiled, { request, headers: ctx.headers, time });
      if (route && route.to !== request.model)
        ctx.state.request = forOtherModel(request, route.to, ctx.response);
      await next();
    };
  },
});

interface Asked {
  readonly request: MessagesRequest;
  readonly headers: IncomingHttpHeaders;
  readonly time: SearchTime;
}

type Test = (asked: Asked) => boolean | Promise<boolean>;

interface Route {
  readonly to: string;
  readonly tests: readonly Test[];
}

/** First route whose tests all match; undefined for none, or if the patterns take too long. */
async function firstRoute(routes: readonly Route[], asked: Asked): Promise<Route | undefined> {
  try {
    for (const route of routes) if (await allTestsPass(route, asked)) return route;
  } catch (error) {
    if (!asked.time.isOver) throw error;
  }
  return undefined;
}

async function allTestsPass({ tests }: Route, asked: Asked): Promise<boolean> {
  for (const test of tests) {
    const result = test(asked);
    if (!(typeof result === 'boolean' ? result : await result)) return false;
  }
  return true;
}

/** Tests of a route, the cheap ones first. Throws an error that names a pattern that cannot be compiled. */
function testsOf(route: Static<typeof RouteOption>, at: number, models: Models): readonly Test[] {
  const { model, header = {}, minTokens = 0, maxTokens = Infinity, pattern } = route;
  const tests: Test[] = Object.entries(header).map(([name, globs]) => headerTest(name.toLowerCase(), globs));
  if (model) {
    const matches = globMatcher(model);
    tests.push(({ request }) => matches(models.find(request.model)?.id ?? request.model));
  }
  if (minTokens > 0 || maxTokens < Infinity)
    tests.push(({ request: { system, tools, messages } }) => {
      const tokens = estimateTokens({ system, tools, messages });
      return tokens >= minTokens && tokens <= maxTokens;
    });
  if (pattern !== undefined) {
    const searched = anyMatch(compilePattern(pattern, `routes[${at}].pattern`), pattern);
    tests.push(({ request, time }) => time.run((turn) => isFound(searched, textsOf(request), turn)));
  }
  return tests;
}

function headerTest(name: string, globs: readonly string[]): Test {
  const matches = globMatcher(globs);
  return ({ headers: { [name]: value } }) => value !== undefined && matches([value].flat().join(', '));
}

/** Pattern that also takes an empty match. */
function anyMatch(expression: ReturnType<typeof compilePattern>, name: string): Pattern {
  return {
    name,
    find(text, from) {
      const matcher = expression.matcher(text);
      return matcher.find(from) ? { name, start: matcher.start(), end: matcher.end() } : undefined;
    },
  };
}

async function isFound(pattern: Pattern, texts: readonly string[], turn: SearchTurn): Promise<boolean> {
  for (const text of texts) if (await findMatch(pattern, text, 0, turn)) return true;
  return false;
}

/** Texts of the last message, system messages aside. */
function textsOf({ messages }: MessagesRequest): readonly string[] {
  const { content = '' } = messages.findLast((message) => message?.role !== 'system') ?? {};
  if (typeof content === 'string') return [content];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}
