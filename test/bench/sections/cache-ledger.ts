import { CacheLedger } from '#src/features/cache-ledger/cache-ledger.js';
import type { MessagesRequest } from '#src/plugin/index.js';
import type { RequestVersion } from '#src/engine/trace/request-versions.js';
import { mark, table } from '../report/table.js';
import type { Section } from './section.js';

/** CPU time that the cache ledger adds to a request, by the number and the size of its messages. */
export const cacheLedger: Section = {
  name: 'cache-ledger',
  title: 'cache ledger: CPU microseconds a request; the goal is 20 µs and 2 ms for each MB of prompt',
  weight: 1,
  async run() {
    shapes.forEach(measured); // the code of all shapes is compiled by now, in threads whose time would count
    return report(shapes.map(measured));
  },
};

const shapes: readonly Shape[] = [
  { messages: 1, bytes: 100 },
  { messages: 5, bytes: 100 },
  { messages: 51, bytes: 100 },
  { messages: 51, bytes: 2000 },
  { messages: 201, bytes: 500 },
  { messages: 501, bytes: 2000 },
  { messages: 1001, bytes: 100 },
  { messages: 11, bytes: 100_000 },
];

/** Number of the messages of a prompt, and the length of each. */
interface Shape {
  readonly messages: number;
  readonly bytes: number;
}

interface Measured extends Shape {
  readonly promptBytes: number;
  readonly micros: number;
}

function report(rows: readonly Measured[]) {
  const cells = rows.map(({ messages, bytes, promptBytes, micros }) => {
    const goal = 20 + promptBytes * 0.002;
    return [`${messages} of ${bytes} B`, `${micros.toFixed(1)}${mark(micros, goal)}`, goal.toFixed(1)];
  });
  return { text: table(['messages', 'µs a request', 'goal'], cells), rows };
}

/** Time of a session's next turn, whose caller has not been seen before: each one is parsed anew. */
function measured({ messages, bytes }: Shape): Measured {
  const json = JSON.stringify(promptOf(messages, bytes));
  const count = Math.max(30, Math.min(300, Math.floor(30_000_000 / json.length)));
  const turns = Array.from({ length: count }, () => versionsOf(JSON.parse(json) as MessagesRequest)); // written above
  const ledger = new CacheLedger();
  const { micros, rounds } = run(ledger, turns, 600);
  return { messages, bytes, promptBytes: json.length, micros: micros / (rounds * count) };
}

function run(ledger: CacheLedger, turns: readonly (readonly RequestVersion[])[], forMs: number) {
  const before = process.cpuUsage();
  const endMs = performance.now() + forMs;
  let rounds = 0;
  for (; performance.now() < endMs; rounds += 1) turns.forEach((versions, at) => add(ledger, versions, at));
  const { user, system } = process.cpuUsage(before);
  return { micros: user + system, rounds };
}

function add(ledger: CacheLedger, versions: readonly RequestVersion[], at: number): void {
  const startedMs = at * 1000;
  const tokens = { readTokens: 1000, writtenTokens: 100, inputTokens: 3 };
  const call = { slot: 'a', model: 'sonnet-5', startedMs, answeredMs: startedMs + 500, ...tokens };
  ledger.add({ session: `session ${at % 10}`, versions, call, isWhole: true });
}

function promptOf(messages: number, bytes: number): MessagesRequest {
  const text = 'words of a prompt that are hashed once '.repeat(Math.ceil(bytes / 39)).slice(0, bytes);
  return {
    model: 'sonnet-5',
    system: 'Be brief.',
    tools: [{ name: 'search', input_schema: { type: 'object', properties: { query: { type: 'string' } } } }],
    messages: Array.from({ length: messages }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text: `${at} ${text}` }],
    })),
  };
}

/** The request as the default pipeline changes it: a persona, a tool, a cache marker. */
function versionsOf(request: MessagesRequest): readonly RequestVersion[] {
  const persona = {
    ...request,
    system: [{ type: 'text', text: 'A persona.' } as const, { type: 'text', text: 'Be brief.' } as const],
  };
  const searching = {
    ...persona,
    tools: [...(request.tools ?? []), { type: 'web_search_20250305', name: 'web_search' }],
  };
  const last = request.messages.at(-1);
  const content = [
    {
      type: 'text',
      text: '',
      ...Object(last?.content)[0],
      cache_control: { type: 'ephemeral', ttl: '1h' },
    } as const,
  ];
  const marked = {
    ...searching,
    messages: [...request.messages.slice(0, -1), { role: 'user' as const, content }],
  };
  return [
    { by: 'format-decode', request },
    { by: 'persona-inject', request: persona },
    { by: 'web-search-tool', request: searching },
    { by: 'cache-ttl', request: marked },
  ];
}
