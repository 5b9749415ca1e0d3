import { masterKey, type Pair } from '../whole/harness.js';

/** A clock that a test sets back and lets run faster. */
export class Clock {
  #behindMs = 0;

  readonly now = (): number => Date.now() - this.#behindMs;

  setBack(ms: number): void {
    this.#behindMs = ms;
  }
}

const hourMs = 3_600_000;
const models = ['sonnet-5', 'haiku-5', 'sonnet-5-5'];
const formats = ['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/completions'] as const;

export type Path = (typeof formats)[number];

/** A request in each format. */
export function bodyOf(path: Path, model: string, text: string, stream = false): object {
  const messages = [{ role: 'user', content: text }];
  if (path === '/v1/responses') return { model, input: text, stream };
  if (path === '/v1/completions') return { model, prompt: text, stream };
  return { model, messages, stream, ...(path === '/v1/messages' && { max_tokens: 1000 }) };
}

/** One request in each format with a key of somebody. */
export async function askInEachFormat(pair: Pair, key: string): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const path of formats) {
    const response = await pair.post(path, bodyOf(path, 'sonnet-5', 'Hello!'), { 'x-api-key': key });
    await response.text();
    statuses.push(response.status);
  }
  return statuses;
}

/** Issues a key by the panel API. */
export async function issueByApi(pair: Pair, settings: object): Promise<string> {
  const response = await pair.post('/api/panel/keys', settings, { 'x-api-key': masterKey });
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as { key: string }).key;
}

/** A day and a half of a team's work, each request a real one through gateway and simulator, at a time of its own. */
export async function workForADay(pair: Pair, clock: Clock, keys: readonly string[]): Promise<void> {
  for (let hour = 26; hour > 0; hour -= 1) {
    const busy = 3 + Math.round(5 * Math.abs(Math.sin(hour / 4))) + (hour % 5);
    for (let index = 0; index < busy; index += 1) {
      clock.setBack(hour * hourMs - (index * hourMs) / (busy + 1));
      await oneOf(pair, keys, hour * 7 + index);
    }
  }
  clock.setBack(0);
}

async function oneOf(pair: Pair, keys: readonly string[], turn: number): Promise<void> {
  const path = formats[turn % formats.length]!;
  const key = keys[turn % keys.length]!;
  const model = models[(turn >> 1) % models.length]!;
  const response = await pair.post(path, bodyOf(path, model, wordsOf(turn), turn % 3 > 0), {
    'x-api-key': key,
    'x-session-id': `session-${turn % 9}`,
  });
  await response.text();
}

/** Mostly an answer, now and then something that goes wrong. */
function wordsOf(turn: number): string {
  if (turn % 29 === 3) return 'Too much of it. [[sim:400 message="The prompt is too long"]]';
  if (turn % 31 === 5) return 'Half of it. [[sim:cut after=6]]';
  if (turn % 37 === 7) return 'Nothing at all. [[sim:end after=1]]';
  const size = 40 + ((turn * 53) % 400);
  return `${'Tell me more about gateways. '.repeat(1 + (turn % 12))} [[sim:tokens n=${size}]]`;
}
