import { review, type ReviewedAnswer } from '../answer-review.js';
import type { RemoteCheck } from '../check.js';
import { CheckFailure } from '../check-failure.js';
import type { RemoteServer } from '../remote-server.js';
import { end, pieces, start, telling, textAnswer, textBlock, toolBlock } from '../samples.js';

/** Checks of answers that come in several questions. */
export const streamChecks: readonly RemoteCheck[] = [
  {
    name: 'split-text',
    rule: 'finds the same in a text however it is split into events and questions',
    run: (server) => isSplit(server, (size) => textAnswer(pieces(telling, size)), [telling.length, 3, 11]),
  },
  {
    name: 'split-unicode',
    rule: 'keeps characters whose halves come in two events',
    run: (server) => isSplit(server, (size) => textAnswer(pieces(unicode, size)), [unicode.length, 1]),
  },
  {
    name: 'split-tool-input',
    rule: 'finds the same in the input of a tool however it is split',
    run: (server) =>
      isSplit(server, (size) => [...start, ...toolBlock(0, pieces(input, size)), ...end('tool_use')], [
        input.length,
        5,
      ]),
  },
  {
    name: 'several-blocks',
    rule: 'keeps the texts of several blocks apart',
    run: (server) =>
      isSplit(
        server,
        (size) => [
          ...start,
          ...textBlock(0, pieces('I will write to jane.doe', size)),
          ...textBlock(1, pieces('@example.com is the host, max@example.com the other one.', size)),
          ...toolBlock(2, pieces(input, size)),
          ...end('tool_use'),
        ],
        [1000, 16],
      ),
  },
  {
    name: 'last-events',
    rule: 'does not hold the last events of an answer, even if they end in mid-word',
    async run(server) {
      await review(server, [[...start, ...textBlock(0, ['Write to jane.doe@exam']).slice(0, -1)]]);
      await review(server, [textAnswer(['Write to jane.doe@exam'])]);
    },
  },
  {
    name: 'held-bytes',
    rule: 'holds at most 64 kB of an answer without a space',
    async run(server) {
      const events = textAnswer(pieces('a1b2'.repeat(25_000), 4000));
      await review(
        server,
        events.map((event) => [event]),
      );
    },
  },
  {
    name: 'state',
    rule: 'keeps its state within 4 kB in an answer of 200 questions',
    async run(server) {
      const words = Array.from(
        { length: 200 },
        (_, at) => `Sentence number ${at + 1} of the answer ends here. `,
      );
      await review(
        server,
        textAnswer(words).map((event) => [event]),
      );
    },
  },
];

const unicode = 'Grüße, 你好, 😀👩‍👩‍👧‍👦 and e\u0301: \u{1F1EB}\u{1F1F7}.';
const input = JSON.stringify({ to: 'jane.doe@example.com', text: 'Say "hello"\n to 😀', limit: 5 });

/** Compares the outcome of an answer, whole, with those of its splits: events of `of(size)`, each a question. */
async function isSplit(
  server: RemoteServer,
  of: (size: number) => readonly object[],
  [whole = 1, ...sizes]: readonly number[],
): Promise<void> {
  const expected = await review(server, [of(whole)]);
  const found = await Promise.all(
    sizes.map((size) =>
      review(
        server,
        of(size).map((event) => [event]),
      ),
    ),
  );
  for (const [at, outcome] of found.entries())
    if (textOf(outcome) !== textOf(expected))
      throw new CheckFailure(
        `split into pieces of ${sizes[at]} it gave ${textOf(outcome)}, in one question ${textOf(expected)}`,
      );
}

function textOf({ isRefused, texts }: ReviewedAnswer): string {
  return isRefused ? 'a refusal' : JSON.stringify(texts);
}
