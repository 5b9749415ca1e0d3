import type { IncomingHttpHeaders } from 'node:http';
import { definePlugin, isLoopback, sendsKey, Type, type Caller } from '@gw2api/gateway/plugin';
import { keyCaller } from './shared/key-caller.js';

/** Authentication: refuses requests without a known key. */
export default definePlugin({
  name: 'auth',
  api: 1,
  provides: ['caller'],
  operations: ['generate', 'count-tokens', 'models', 'usage', 'route'],
  options: Type.Object({
    anonymous: Type.Unsafe<boolean | 'everyone'>({
      enum: [true, false, 'everyone'],
      default: false,
      description: [
        'Admits callers that send no key, as one caller "anonymous" with the limits of rate-limit;',
        'never to /admin, the console or /metrics. true: only if listen.host is a loopback address,',
        'refused otherwise; everyone: from anywhere.',
      ].join(' '),
    }),
  }),
  setup({ anonymous }, host) {
    if (anonymous === false)
      return async function auth(ctx, next) {
        ctx.state.caller = await keyCaller(ctx.headers, host);
        await next();
      };
    if (anonymous === true && !host.isLocal) throw new Error(notLocal);
    const isWelcome = (name: string) => anonymous === 'everyone' || isLoopback(name);
    return async function auth(ctx, next) {
      const { headers, host: named } = ctx;
      // The name that was called is checked too: a page of another site may resolve its own to this machine.
      const isRefused =
        anonymous === true && ctx.state.operation === 'route' && isForeignPage(headers, named);
      const isAnonymous = !sendsKey(headers) && isWelcome(ctx.hostname) && !isRefused;
      ctx.state.caller = isAnonymous ? anonymousCaller : await keyCaller(headers, host);
      await next();
    };
  },
});

/**
 * True for a request that a browser sends for a page of another origin. A plain GET or POST, which a plugin's route may
 * accept, has no preflight; model routes accept only JSON, which has one.
 */
function isForeignPage(headers: IncomingHttpHeaders, host: string): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  if (origin !== undefined) return origin !== `http://${host}` && origin !== `https://${host}`;
  return site !== 'none' && site !== 'same-origin';
}

const notLocal = [
  'anonymous: true admits everyone who can reach the gateway, which is not limited to this machine:',
  'set listen.host to 127.0.0.1 (and HOST, if it is set) without trustProxy,',
  'or write anonymous: everyone',
].join(' ');

/** All callers without a key, who share their limits. */
const anonymousCaller: Caller = Object.freeze({ kind: 'anonymous', keyId: 'anonymous', name: 'anonymous' });
