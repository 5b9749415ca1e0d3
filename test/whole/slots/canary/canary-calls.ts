import { ask, configOf, masterKey, stages } from '../../harness.js';

/** A stage that marks its answers. */
export const mark = `export default {
  name: 'mark',
  options: { type: 'object', properties: { tag: { type: 'string' }, fails: { type: 'boolean' } } },
  setup: ({ tag, fails }) => async (ctx, next) => {
    ctx.set('x-mark', tag);
    if (fails) ctx.throw(400, 'It fails.');
    await next();
  },
};
`;

/** The stage, which cannot be set up with the options of the canary. */
export const broken = mark.replace('=> async', "=> tag === 'new' ? undefined.broken : async");

interface Canary {
  readonly state: string;
  readonly candidate: { readonly requests: number };
  readonly control: { readonly requests: number };
}

/** Calls of a gateway at `url`. */
export function callerOf(url: string) {
  const headers = { 'x-api-key': masterKey, 'content-type': 'application/json', connection: 'close' };
  return {
    async change(end: string): Promise<number> {
      return (await fetch(`${url}/admin/reload${end}`, { method: 'POST', headers })).status;
    },
    async canary(): Promise<Canary | null> {
      const answer = await fetch(`${url}/admin/reload`, { headers });
      return ((await answer.json()) as { canary: Canary | null }).canary;
    },
    /** Marks of so many sessions, each by a connection of its own. */
    marks(count: number, name = 'session'): Promise<(string | null)[]> {
      const one = async (at: number) => {
        const body = JSON.stringify(ask('Hi'));
        const own = { ...headers, 'x-session-id': `${name} ${at}` };
        const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers: own, body });
        await response.text();
        return response.headers.get('x-mark');
      };
      return Promise.all(Array.from({ length: count }, (_, at) => one(at)));
    },
  };
}

export type Caller = ReturnType<typeof callerOf>;

/** A config with the stage first. */
export function withMark(options: object, config: object): object {
  return configOf({ pipeline: [{ use: './mark.js', with: options }, ...stages()], ...config });
}
