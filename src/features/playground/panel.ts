import { Closed } from '../../kit/schema/type.js';
import { readGivenRequest, GivenRequestBody, type GivenRequest } from '../../operator/given-request.js';
import { GatewayError, sseBody, Type } from '../../plugin/index.js';
import { sseEvent } from '../../plugin/format/index.js';
import type { Names } from '../../operator/names.js';
import type { RoutesOf } from '../../operator/route-source.js';
import type { Gateway } from '../../gateway/gateway.js';
import { playgroundRuns } from './extension.js';
import type { RunPlayground } from './playground-run.js';
import { requestDetail } from '../../operator/request-report.js';
import { route, type Route } from '../../operator/route.js';

/** Route that runs a request as a key. */
export const panelRoutes: RoutesOf = (gateway, { names }) => [playgroundRoute(gateway, names)];

function playgroundRoute(gateway: Gateway, names: Names): Route {
  let running = 0;
  return route({
    method: 'POST',
    path: '/api/panel/playground',
    summary:
      'Runs a request as a key, with its limits and its row in the ledger, and streams what happens: `start`, ' +
      '`progress` (stages and upstream calls so far), `head` (status and headers of the answer), `data` (a piece of ' +
      'its text) and `done` (the request as `/requests/:id` has it; null where it reached no model).',
    body: PlaygroundBody,
    readsBody: true,
    maxBodyBytes: 16 * 1024 * 1024,
    audit: 'playground.run',
    noted: 'An operator runs a request as a key.',
    answers: { 200: Type.String() },
    answerType: 'text/event-stream',
    async handle({ readBody, audit, ctx }) {
      if (running >= maxRunning) throw tooMany();
      running += 1;
      ctx.res.once('close', () => void (running -= 1));
      const { as = 'master', ...given } = await readBody();
      const call = { ...readGivenRequest(given), as };
      audit.target = as;
      audit.note({ path: call.path, model: modelOf(call) });
      const playground = await gateway.use(playgroundRuns);
      const run = await playground(call, ctx.req.socket, ctx.state.signal);
      ctx.type = 'text/event-stream';
      ctx.body = sseBody(texts(run, names), {
        keepAlive: ': keep-alive\n\n',
        keepAliveMs,
        onFailure: (error) =>
          gateway.services.log.warn({ err: error }, 'A request of the playground failed.'),
      });
      return undefined;
    },
  });
}

/** Schema of a request that is run, which always has a key. */
const PlaygroundBody = Closed({
  ...GivenRequestBody.properties,
  as: Type.Optional(
    Type.String({ maxLength: 300, description: 'Id of its key; `master`, which is the default.' }),
  ),
});

/** Max requests of the playground at a time. */
const maxRunning = 20;
const keepAliveMs = 15_000;

/** Model that a body names, for the audit log; null: none. */
function modelOf({ body }: GivenRequest): string | null {
  const { model } = Object(body) as { readonly model?: unknown };
  return typeof model === 'string' ? model.slice(0, 200) : null;
}

async function* texts(run: Awaited<ReturnType<RunPlayground>>, names: Names): AsyncGenerator<string> {
  for await (const event of run) {
    if (event.type !== 'done') {
      yield sseEvent(event.type, JSON.stringify(event.data));
      continue;
    }
    const nameOf = await names.ofKeys();
    const request = event.row ? requestDetail(event.row, nameOf) : null;
    yield sseEvent('done', JSON.stringify({ request }));
  }
}

function tooMany(): GatewayError {
  return new GatewayError('rate_limited', `${maxRunning} requests of the playground are already running.`, {
    headers: { 'retry-after': '5' },
  });
}
