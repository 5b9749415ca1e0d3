import type { FormatName } from '../../support/formats.js';
import { Left } from '../load/exchange.js';
import { checkError, type Caller, type Question } from './caller.js';
import type { Random } from '../../support/seeded.js';

/** One kind of traffic. */
export interface Visit {
  readonly name: string;
  /** Frequency, relative to the others. */
  readonly weight: number;
  /** Throws where the gateway did not answer as it has to. */
  run(caller: Caller, random: Random): Promise<void>;
}

const formats = ['messages', 'chat', 'responses', 'completions'] as const satisfies readonly FormatName[];

const text = 'The quick brown fox jumps over the lazy dog, and says “naïve” twice. '.repeat(8).trimEnd();
const say = `Please. [[sim:say text="${text}"]]`;

/** Faults of the upstream that fail every attempt. */
const faults = [
  '500',
  '529',
  '503',
  '429 retry-after=1',
  '400',
  'reset',
  'html',
  'cut after=4',
  'end after=4',
  'error after=4',
  'stall after=4',
  'empty',
];

/** All kinds that need no console. */
export const visits: readonly Visit[] = [
  {
    name: 'whole',
    weight: 20,
    run: (caller, random) => caller.wants(text, { ...anyFormat(random), isStream: false, prompt: say }),
  },
  {
    name: 'stream',
    weight: 40,
    run: (caller, random) => caller.wants(text, { ...anyFormat(random), isStream: true, prompt: say }),
  },
  {
    name: 'session',
    weight: 10,
    run: (caller, random) =>
      caller.wants(text, {
        ...anyFormat(random),
        isStream: true,
        prompt: say,
        session: `s-${pick(500, random)}`,
      }),
  },
  {
    name: 'long request',
    weight: 2,
    run: (caller, random) =>
      caller.wants(text, {
        ...anyFormat(random),
        isStream: true,
        prompt: `${'Words. '.repeat(30_000)}${say}`,
      }),
  },
  { name: 'caller leaves', weight: 10, run: leave },
  { name: 'slow reader', weight: 1, run: readSlowly },
  { name: 'upstream fault', weight: 10, run: strike },
  { name: 'bad request', weight: 5, run: refuse },
  { name: 'token count', weight: 3, run: count },
  { name: 'models', weight: 3, run: list },
];

async function leave(caller: Caller, random: Random): Promise<void> {
  const prompt = `[[sim:tokens n=200]] [[sim:slow ms=5]]`;
  const question: Question = { ...anyFormat(random), isStream: true, prompt, leaves: true };
  const { status } = await caller.ask(question).catch((error: unknown) => {
    if (error instanceof Left) return { status: 200 };
    throw error;
  });
  if (status !== 200) throw new Error(`status ${status}`);
}

async function readSlowly(caller: Caller, random: Random): Promise<void> {
  const prompt = '[[sim:size kb=512]]';
  const { status, body } = await caller.ask({
    ...anyFormat(random),
    isStream: true,
    prompt,
    bytesPerMs: 400,
  });
  if (status !== 200 || body.length < 512 * 1024) throw new Error(`status ${status}, ${body.length} bytes`);
}

async function strike(caller: Caller, random: Random): Promise<void> {
  const fault = faults[pick(faults.length, random)];
  const prompt = `[[sim:tokens n=50]] [[sim:${fault}]]`;
  await caller
    .wantsError({ ...anyFormat(random), isStream: random() < 0.7, prompt })
    .catch((error: unknown) => {
      throw new Error(`${fault}: ${String(error)}`);
    });
}

async function refuse(caller: Caller, random: Random): Promise<void> {
  const cases = [
    { status: 400, send: () => caller.send('POST', '/v1/messages', { model: 'sonnet-5', messages: 'none' }) },
    { status: 401, send: () => caller.send('POST', '/v1/messages', {}, 'sk-gw-nobody-has-issued-this') },
    { status: 404, send: () => caller.send('GET', '/v1/nowhere') },
  ];
  const chosen = cases[pick(cases.length, random)];
  const { status, body } = (await chosen?.send()) ?? { status: 0, body: '{}' };
  if (status !== chosen?.status) throw new Error(`status ${status} in place of ${chosen?.status}: ${body}`);
  checkError(status, body);
}

async function count(caller: Caller): Promise<void> {
  const body = { model: 'sonnet-5', messages: [{ role: 'user', content: 'How many?' }] };
  const answer = await caller.send('POST', '/v1/messages/count_tokens', body);
  if (!/"input_tokens":[1-9]/.test(answer.body)) throw new Error(`${answer.status}: ${answer.body}`);
}

async function list(caller: Caller): Promise<void> {
  const answer = await caller.send('GET', '/v1/models');
  if (!answer.body.includes('"sonnet-5"')) throw new Error(`${answer.status}: ${answer.body}`);
}

function anyFormat(random: Random): { readonly format: FormatName } {
  return { format: formats[pick(formats.length, random)] ?? 'messages' };
}

function pick(count: number, random: Random): number {
  return Math.floor(random() * count);
}

/** A key is issued, used and revoked, and then is of no use. */
export const keys: Visit = {
  name: 'keys',
  weight: 1,
  async run(caller) {
    const issued = await caller.send('POST', '/api/panel/keys', { name: 'soak' });
    if (issued.status !== 201) throw new Error(`issuing: ${issued.status} ${issued.body}`);
    const { id, key } = JSON.parse(issued.body) as { id: string; key: string }; // as the panel says
    const question = { format: 'messages', isStream: true, prompt: say, key } as const;
    await caller.wants(text, question);
    const revoked = await caller.send('DELETE', `/api/panel/keys/${id}`);
    if (revoked.status !== 200) throw new Error(`revoking: ${revoked.status} ${revoked.body}`);
    const { status } = await caller.ask(question);
    if (status !== 401) throw new Error(`status ${status} for a revoked key`);
    await caller.send('DELETE', `/api/panel/keys/${id}?purge=true`);
  },
};

/** True if this gateway has the panel that issues keys. */
export async function hasPanel(caller: Caller): Promise<boolean> {
  return (await caller.send('GET', '/api/panel/keys')).status === 200;
}
