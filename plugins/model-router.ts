import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import {
  definePlugin,
  estimateTokens,
  globMatcher,
  Type,
  type MessagesRequest,
  type Models,
} from 'gw2api/plugin';
import { forOtherModel } from './shared/other-model.js';
import { compilePattern } from './shared/patterns.js';

const Globs = Type.Array(Type.String({ minLength: 1 }), { minItems: 1 });

const RouteOption = Type.Object({
  /** Catalog id, or another name that a slot serves. */
  to: Type.String({ minLength: 1 }),
  /** Globs over the catalog id of the asked model. */
  model: Type.Optional(Globs),
  /** Globs over headers by name; an absent header never matches. */
  header: Type.Optional(Type.Record(Type.String(), Globs)),
  /** Min estimated tokens of the prompt: system, tools and messages. */
  minTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Max estimated tokens of the prompt. */
  maxTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Pattern in the text of the last message that is not a system message, in RE2 syntax. */
  pattern: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
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
    /** Tried in order; every condition of a route must hold. A request that none matches keeps its model. */
    routes: Type.Array(RouteOption, { minItems: 1 }),
  }),
  setup({ routes }, host) {
    const idOf = (name: string): string => (host.models.find(name) ? host.models.idOf(name) : name);
    const compiled = routes.map((route, at) => ({
      to: idOf(route.to),
      tests: testsOf(route, at, host.models),
    }));
    return async function modelRouter(ctx, next) {
      const { request } = ctx.state;
      const route = compiled.find(({ tests }) => tests.every((test) => test(request, ctx.headers)));
      if (route && route.to !== request.model)
        ctx.state.request = forOtherModel(request, route.to, ctx.response);
      await next();
    };
  },
});

type Test = (request: MessagesRequest, headers: IncomingHttpHeaders) => boolean;

/** Tests of a route, the cheap ones first. Throws an error that names a pattern that cannot be compiled. */
function testsOf(route: Static<typeof RouteOption>, at: number, models: Models): readonly Test[] {
  const { model, header = {}, minTokens = 0, maxTokens = Infinity, pattern } = route;
  const tests: Test[] = Object.entries(header).map(([name, globs]) => headerTest(name.toLowerCase(), globs));
  if (model) {
    const matches = globMatcher(model);
    tests.push((request) => matches(models.find(request.model)?.id ?? request.model));
  }
  if (minTokens > 0 || maxTokens < Infinity)
    tests.push(({ system, tools, messages }) => {
      const tokens = estimateTokens({ system, tools, messages });
      return tokens >= minTokens && tokens <= maxTokens;
    });
  if (pattern !== undefined) {
    const expression = compilePattern(pattern, `routes[${at}].pattern`);
    tests.push((request) => textsOf(request).some((text) => expression.matcher(text).find()));
  }
  return tests;
}

function headerTest(name: string, globs: readonly string[]): Test {
  const matches = globMatcher(globs);
  return (_, { [name]: value }) => value !== undefined && matches([value].flat().join(', '));
}

/** Texts of the last message, system messages aside. */
function textsOf({ messages }: MessagesRequest): readonly string[] {
  const { content = '' } = messages.findLast((message) => message?.role !== 'system') ?? {};
  if (typeof content === 'string') return [content];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}
