import { expect } from 'chai';
import { signingKey } from '#src/plugin/remote/index.js';
import { runChecks } from '#src/cli/test-remote/run-checks.js';
import {
  hasLanguage,
  referenceServer,
  RemoteProcesses,
  remoteSecret,
  type Language,
} from '../../support/remote-process.js';

describe('the reference servers of remote stages', function () {
  this.timeout(60_000);
  const servers = new RemoteProcesses();
  afterEach(() => servers.end());

  for (const language of ['mjs', 'py'] as const) {
    it(`have at most 50 lines, each of at most 110 characters: remote.${language}`, async () => {
      const lines = (await referenceServer(language)).trimEnd().split('\n');
      expect(lines.length).to.be.at.most(50);
      expect(lines.filter((line) => line.length > 110)).to.deep.equal([]);
    });

    for (const secret of [remoteSecret, 'a secret in plain text'])
      it(`pass all checks: remote.${language}, with a secret as ${secret.slice(0, 8)}…`, async function () {
        if (!hasLanguage(language)) this.skip();
        const url = await servers.start(await referenceServer(language), { language, secret });
        const results = await runChecks({ url, key: signingKey(secret) });
        expect(results.filter(({ result }) => result !== 'passed')).to.deep.equal([]);
      });

    it(`do not start without a secret: remote.${language}`, async function () {
      if (!hasLanguage(language)) this.skip();
      const text = await referenceServer(language);
      const error = await servers.start(text, { language, secret: '' }).then(
        () => undefined,
        (reason: unknown) => String(reason),
      );
      expect(error).to.include('REMOTE_SECRET');
    });
  }

  const replies: readonly (readonly [what: string, question: object, reply: object])[] = [
    [
      'deny a request with a word of the context',
      { phase: 'request', request: { messages: [{ role: 'user', content: 'Open Sesame!' }] } },
      { version: 1, verdict: 'deny', message: '"sesame" is not allowed.' },
    ],
    [
      'hide an address in an answer',
      { phase: 'answer', answer: { content: [{ type: 'text', text: 'Ask a.b@example.com.' }] } },
      { version: 1, verdict: 'change', content: [{ type: 'text', text: 'Ask [e-mail].' }] },
    ],
    [
      'hold events that end within a word',
      { phase: 'events', events: [delta('Ask a.b@exa')], last: false },
      { version: 1, verdict: 'hold' },
    ],
    [
      'allow events that end behind a word',
      { phase: 'events', events: [delta('Ask her ')], last: false },
      { version: 1, verdict: 'allow' },
    ],
    [
      'hide an address that two events have',
      { phase: 'events', events: [delta('Ask a.b@exa'), delta('mple.com, or wait.')], last: true },
      { version: 1, verdict: 'change', events: [delta('Ask [e-mail], or wait.'), delta('')] },
    ],
  ];
  for (const [what, question, reply] of replies)
    for (const language of ['mjs', 'py'] as const)
      it(`${what}: remote.${language}`, async function () {
        if (!hasLanguage(language)) this.skip();
        const url = await servers.start(unsigned(await referenceServer(language), language), { language });
        const body = JSON.stringify({ version: 1, context: { words: ['sesame'] }, state: null, ...question });
        const answer = await fetch(url, { method: 'POST', body });
        expect(await answer.json()).to.deep.equal(reply);
      });
});

function delta(text: string): object {
  return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
}

/** The server without its check of signatures. */
function unsigned(text: string, language: Language): string {
  const [from, to] = {
    mjs: ['if (!isAuthentic(request.headers, body))', 'if (body.length === 0)'],
    py: ['is_authentic(self.headers, body)', 'body'],
  }[language] as [string, string];
  expect(text).to.include(from);
  return text.replace(from, to);
}
