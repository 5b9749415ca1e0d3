import type { Language } from '../../support/remote-process.js';

/** Reference server with one fault, and the checks that fail on it. */
export interface WrongServer {
  readonly fault: string;
  readonly fails: readonly string[];
  /** Text of the server, and the one in its place. */
  readonly from: string;
  readonly to: string;
  readonly language?: Language;
  /** Checks that run; all that are quick if absent. */
  readonly among?: readonly string[];
  /** True for a server that does not live on: checks after the first one fail too. */
  readonly ends?: boolean;
}

const reviewed = 'send(200, { version: 1, ...phases[question.phase](question) });';
const parsed = 'const question = JSON.parse(body);';
const started = 'const send = (status, reply) =>';

export const wrongServers: readonly WrongServer[] = [
  {
    fault: 'its replies have a field of their own',
    fails: ['request'],
    from: '{ version: 1, ...phases',
    to: '{ version: 1, reason: "", ...phases',
  },
  {
    fault: 'holds answers',
    fails: ['answer', 'no-parts', 'later-fields'],
    from: 'answer({ answer: { content } }) {',
    to: 'answer({ answer: { content } }) {\nif (content[0]?.text?.startsWith("The")) return { verdict: "hold" };',
  },
  {
    fault: 'denies in events',
    fails: ['events'],
    from: 'events({ events, last }) {',
    to: 'events({ events, last }) {\nif (events.some(({ delta }) => delta?.text === "is Paris.")) return { verdict: "deny" };',
  },
  {
    fault: 'takes system for a string',
    fails: ['all-parts'],
    from: 'request({ request, context }) {',
    to: 'request({ request, context }) {\nrequest?.system?.trim();',
  },
  { fault: 'needs messages', fails: ['no-parts'], from: 'request?.messages ?? []', to: 'request.messages' },
  {
    fault: 'takes each block for a text',
    fails: ['tool-calls', 'deep-input'],
    from: "if (block.type === 'text') ",
    to: '',
  },
  {
    fault: 'needs an event',
    fails: ['empty-answer'],
    from: 'events.at(-1)?.index',
    to: 'events.at(-1).index',
  },
  {
    fault: 'refuses fifty levels',
    fails: ['deep-input'],
    from: parsed,
    to: `${parsed}\nif (/(\\{"a":){50}/.test(body)) throw new Error('It is too deep.');`,
  },
  {
    fault: 'refuses unknown fields',
    fails: ['later-fields'],
    from: parsed,
    to: `${parsed}\nif ('later_field' in question) throw new Error('A field is unknown.');`,
  },
  {
    fault: 'takes any version',
    fails: ['unknown-version'],
    from: 'question.version !== 1',
    to: '!question.version',
  },
  {
    fault: 'takes an unknown phase for a request',
    fails: ['unknown-phase'],
    from: 'phases[question.phase](question)',
    to: '(phases[question.phase] ?? phases.request)(question)',
  },
  {
    fault: 'allows where it fails',
    fails: ['unknown-phase', 'broken-json', 'empty-body'],
    from: 'send(400, { error: error.message });',
    to: "send(200, { version: 1, verdict: 'allow' });",
  },
  {
    fault: 'allows an empty body',
    fails: ['empty-body'],
    from: parsed,
    to: `if (body.length === 0) return send(200, { version: 1, verdict: 'allow' });\n${parsed}`,
  },
  {
    fault: 'looks at each question alone',
    fails: ['split-text', 'several-blocks'],
    from: "return { verdict: 'hold' }",
    to: "return { verdict: 'allow' }",
  },
  {
    fault: 'replaces the halves of characters',
    fails: ['split-unicode'],
    from: parsed,
    to: "const question = JSON.parse(JSON.stringify(JSON.parse(body)).replaceAll(/\\\\ud[89a-f][0-9a-f]{2}/g, '\uFFFD'));\nif (String(body).includes('\\\\ud83')) return send(200, { version: 1, verdict: 'change', events: question.events });",
  },
  {
    fault: 'changes the input of tools delta by delta',
    fails: ['split-tool-input', 'several-blocks'],
    from: 'if (Object.values(texts)',
    to: `for (const { delta } of events) if (delta?.partial_json) delta.partial_json = hide(delta.partial_json);
    if (events.some(({ delta }) => delta?.partial_json)) return { verdict: 'change', events };
    if (Object.values(texts)`,
  },
  {
    fault: 'joins the texts of all blocks',
    fails: ['several-blocks'],
    from: "for (const { index, delta } of deltas) texts[index] = (texts[index] ?? '') + delta.text;",
    to: "for (const event of deltas) { event.index = 0; texts[0] = (texts[0] ?? '') + event.delta.text; }",
  },
  { fault: 'holds the last events', fails: ['last-events'], from: '!last && ', to: '' },
  {
    fault: 'holds words of any length',
    fails: ['held-bytes'],
    from: '{1,320}$/.test(end)',
    to: '+$/.test(texts[events.at(-1)?.index])',
  },
  {
    fault: 'adds to its state with each question',
    fails: ['state'],
    from: reviewed,
    to: "send(200, { version: 1, state: `${question.state ?? ''}${'x'.repeat(30)}`, ...phases[question.phase](question) });",
  },
  {
    fault: 'refuses more than sixty messages',
    fails: ['growing-conversation'],
    from: parsed,
    to: `${parsed}\nif (question.request?.messages?.length > 60) throw new Error('There are too many.');`,
  },
  { fault: 'takes 5 MB', fails: ['huge-request'], from: '64e6', to: '5e6' },
  {
    fault: 'takes 1,000 events',
    fails: ['huge-answer'],
    from: parsed,
    to: `${parsed}\nif (question.events?.length > 1000) throw new Error('There are too many.');`,
  },
  {
    fault: 'ends with a call that breaks within its question',
    fails: ['abort-in-body'],
    ends: true,
    from: started,
    to: `response.on('close', () => request.complete || process.exit(1));\n${started}`,
  },
  {
    fault: 'ends with a call that breaks before its reply',
    fails: ['abort-before-reply'],
    ends: true,
    from: parsed,
    to: `if (body.length > 100_000) await new Promise((resolve) => setTimeout(resolve, 50));
    if (response.destroyed) process.exit(1);
    ${parsed}`,
  },
  {
    fault: 'closes each connection',
    fails: ['keep-alive'],
    from: 'response.writeHead(status)',
    to: "response.writeHead(status, { connection: 'close' })",
  },
  {
    fault: 'sends head and body apart, and has Nagle wait',
    fails: ['no-delay'],
    language: 'py',
    among: ['request', 'keep-alive', 'idle-connections'],
    from: '"HTTP/1.1", 75, True',
    to: '"HTTP/1.1", 75, False',
  },
  {
    fault: 'takes nine connections',
    fails: ['idle-connections', 'at-once'],
    among: ['request'],
    from: ".listen(PORT, '127.0.0.1');",
    to: ".listen(PORT, '127.0.0.1').maxConnections = 9;",
  },
  {
    fault: 'refuses more than 32 calls at once',
    fails: ['at-once'],
    among: ['request'],
    from: started,
    to: `const open = (globalThis.open ??= new Set()).add(response);
    response.on('close', () => open.delete(response));
    if (open.size > 32) return response.writeHead(503).end();
    await new Promise((resolve) => setTimeout(resolve, 100));
    ${started}`,
  },
  {
    fault: 'takes questions without a signature',
    fails: ['no-signature'],
    from: 'const signature = ',
    to: 'if (!given) return true;\nconst signature = ',
  },
  {
    fault: 'compares the length of signatures',
    fails: ['other-secret', 'changed-body', 'changed-id', 'changed-timestamp'],
    from: ' && timingSafeEqual(one, right)',
    to: '',
  },
  {
    fault: 'compares as much of a signature as there is',
    fails: ['no-signature', 'short-signature', 'empty-signature'],
    from: 'one.length === right.length && timingSafeEqual(one, right)',
    to: 'right.subarray(0, one.length).equals(one)',
  },
  {
    fault: 'takes timestamps of the past',
    fails: ['old-timestamp'],
    from: 'Math.abs(Date.now() / 1000 - at) > 300',
    to: 'at - Date.now() / 1000 > 300',
  },
  {
    fault: 'takes timestamps of the future',
    fails: ['future-timestamp'],
    from: 'Math.abs(Date.now() / 1000 - at) > 300',
    to: 'Date.now() / 1000 - at > 300',
  },
  {
    fault: 'takes timestamps that are not numbers',
    fails: ['broken-timestamp'],
    from: '!/^\\d+$/.test(at) ||',
    to: '',
  },
  {
    fault: 'takes one signature',
    fails: ['second-signature'],
    from: "given.split(' ').some(",
    to: '[given].some(',
  },
  { fault: 'takes a message twice', fails: ['replay'], from: ' || seen.has(signature)', to: '' },
];
