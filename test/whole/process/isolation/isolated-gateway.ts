import { readFileSync } from 'node:fs';
import type { GatewayProcess } from '../../gateway-process.js';
import { env, file, slotAt, uses, workshop } from '../workers/workers.js';
import { stageModule, withStage } from './isolated.js';

/** Names its process in the head and in each text of an answer; exits at one text, and loops in some requests. */
const own = stageModule(
  `requires: ['request'], intercepts: true,`,
  `const say = (event) => {
    if (event.delta.text === 'exit') process.exit(1);
    return { ...event, delta: { ...event.delta, text: event.delta.text + ' by ' + process.pid } };
  };
  return {
    async middleware(ctx, next) {
      ctx.set('x-child', String(process.pid));
      if (ctx.headers['x-loop']) {
        host.log.info({ child: process.pid }, 'Looping.');
        setImmediate(() => { for (;;); });
      }
      await next();
    },
    async intercept(request, call) {
      const reply = await call(request);
      return { ...reply, events: sdk.mapEvents(reply.events, { content_block_delta: say }) };
    },
  };`,
);

/** A gateway in processes of its own with this stage, as an entry of the test asks for it. */
export async function startIsolated(
  upstreamUrl: string,
  { workers = 1, isolate = {} }: { readonly workers?: number; readonly isolate?: object } = {},
): Promise<{ readonly gateway: GatewayProcess; readonly url: string }> {
  const entry = { use: './own.mjs', isolate: { stall: '60s', ...isolate } };
  const pipeline = withStage(
    entry,
    uses.map((use) => ({ use })),
  );
  const listen = { workers, shutdownTimeout: '10s' };
  const config = JSON.stringify({ listen, pipeline, slots: [slotAt(upstreamUrl)] });
  const cwd = await workshop.folder({ [file]: config, 'config/own.mjs': own });
  const gateway = await workshop.start({ cwd, env });
  return { gateway, url: await gateway.url() };
}

/** The processes that a process has started, and those that these have. */
export function descendantsOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
  return children.flatMap((child) => [Number(child), ...descendantsOf(Number(child))]);
}
