import { definePlugin } from '@gw2api/gateway/plugin';
import { AnswerPhase } from './answer-phase.js';
import { AnswerAudit } from './audit.js';
import { Conversations } from './conversations.js';
import { remoteOptions, readSettings } from './options.js';
import { Remote } from './remote.js';
import { RequestPhase } from './request-phase.js';

/** Asks a service about requests and answers: it allows, denies, refuses or changes them. */
export default definePlugin({
  name: 'remote',
  api: 1,
  requires: ['request'],
  reads: ['caller', 'delivery', 'body'],
  provides: ['request'],
  intercepts: true,
  operations: ['generate', 'count-tokens'],
  keepsPrefix: ({ on, audit, keepsPrefix }) => keepsPrefix || audit || !on.includes('request'),
  options: remoteOptions,
  async setup(options, host) {
    const settings = readSettings(options, host);
    const remote = new Remote(settings, host);
    if (host.dry) await remote.load(); // no stage is started
    const conversations = new Conversations(remote);
    const requests = new RequestPhase(remote, conversations);
    const answers = new (settings.audit ? AnswerAudit : AnswerPhase)(remote, conversations);
    const { asksRequests, asksAnswers } = settings;
    return {
      ...(asksRequests && {
        async middleware(ctx, next) {
          ctx.state.request = await requests.review(ctx);
          await next();
        },
      }),
      applies: (ctx) => asksAnswers || requests.isRefused(ctx),
      async intercept(request, call, ctx) {
        const refusal = requests.refusal(ctx);
        if (refusal) return refusal;
        return asksAnswers ? answers.review(request, call, ctx) : call(request);
      },
      start: () => remote.load(),
      probe: () => remote.probe(),
      dispose: () => remote.close(),
    };
  },
});
