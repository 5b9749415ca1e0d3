import { expect } from 'chai';
import * as fc from 'fast-check';
import { ThinkTags } from '#plugins/upstreams/chat/stream/think-tags.js';
import { chunk, eventsWith, folded } from './answers.js';

type Chunk = Parameters<typeof eventsWith>[1][number];

/** What an answer thinks and says, block by block. */
async function contentOf(chunks: readonly Chunk[], thinkTags = true): Promise<readonly string[]> {
  const { message } = await folded(eventsWith({ thinkTags }, chunks));
  return message.content.map((block) =>
    block.type === 'thinking' ? `(${block.thinking})` : block.type === 'text' ? block.text : block.type,
  );
}

const contents = (...pieces: readonly string[]): readonly Chunk[] => [
  ...pieces.map((content) => chunk({ content })),
  chunk({}, 'stop'),
  '[DONE]',
];

/** A text in pieces that are cut at these places. */
function cutAt(text: string, places: readonly number[]): readonly string[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, text.length].map((end, at) => text.slice(at === 0 ? 0 : ends[at - 1], end));
}

/** Texts of pieces of tags, blanks and anything else. */
const anyText = fc
  .array(
    fc.oneof(fc.constantFrom('<think>', '</think>', '<', '</', 'think>', ' ', '\n', '<thi'), fc.string()),
  )
  .map((parts) => parts.join(''));

/** The same in one piece, by the rule itself. */
function byRule(text: string): { readonly thinking: string; readonly text: string } {
  const [whole, thinking = '', rest = ''] = /^\s{0,100}<think>(.*?)(?:<\/think>(.*))?$/s.exec(text) ?? [];
  return whole === undefined ? { thinking: '', text } : { thinking, text: rest };
}

describe('thinking in tags', () => {
  it('is the same however the tags are split', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(200), { maxLength: 30 }), (text, places) => {
        const tags = new ThinkTags();
        const parts = [...cutAt(text, places).flatMap((piece) => tags.read(piece)), ...tags.end()];
        const joined = (wanted: string) =>
          parts.map(({ kind, text: part }) => (kind === wanted ? part : '')).join('');
        expect({ thinking: joined('thinking'), text: joined('text') }).to.deep.equal(byRule(text));
      }),
      { numRuns: 2000 },
    );
  });

  for (const size of [1, 2, 3, 5, 100])
    it(`is thinking of the answer in deltas of ${size} characters, and the text stays as it is`, async () => {
      const text = '\n<think>\nA < b </thin\n</think>\n\nYes: <think>not</think>.';
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      const wanted = ['(\nA < b </thin\n)', '\n\nYes: <think>not</think>.'];
      expect(await contentOf(contents(...pieces))).to.deep.equal(wanted);
    });

  it('is read in a whole answer, too', async () => {
    const message = { role: 'assistant', content: '<think>Hm.</think>Yes.' };
    const whole = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(await contentOf([whole, '[DONE]'])).to.deep.equal(['(Hm.)', 'Yes.']);
    const repeated = [chunk({ content: '<think>Hm.' }), chunk({ content: '</think>Yes.' }), whole, '[DONE]'];
    expect(await contentOf(repeated)).to.deep.equal(['(Hm.)', 'Yes.']);
  });

  it('is all of an answer that ends within it, and nothing held is lost', async () => {
    expect(await contentOf(contents('<think>Hm, </th'))).to.deep.equal(['(Hm, </th)']);
    expect(await contentOf(contents(' <thi'))).to.deep.equal([' <thi']);
    expect(await contentOf(contents('  '))).to.deep.equal(['  ']);
  });

  it('ends at a tool call, or where thinking comes as a field of its own', async () => {
    const call = { index: 0, id: 'c', function: { name: 'look', arguments: '{}' } };
    const loop = [
      chunk({ content: '<think>Look</th' }),
      chunk({ tool_calls: [call] }),
      chunk({}, 'tool_calls'),
    ];
    expect(await contentOf([...loop, '[DONE]'])).to.deep.equal(['(Look</th)', 'tool_use']);
    const field = [chunk({ reasoning_content: 'Hm.' }), ...contents('<think>', 'said</think>')];
    expect(await contentOf(field)).to.deep.equal(['(Hm.)', '<think>said</think>']);
  });

  it('is no thinking elsewhere, nor of a slot without the option', async () => {
    expect(await contentOf(contents('So: ', '<think>Hm.</think>'))).to.deep.equal(['So: <think>Hm.</think>']);
    expect(await contentOf(contents('<think>Hm.</think>Yes.'), false)).to.deep.equal([
      '<think>Hm.</think>Yes.',
    ]);
  });

  it('holds back no more than a tag and the white space before it', () => {
    const tags = new ThinkTags();
    const blank = ' '.repeat(50);
    expect([tags.read(blank), tags.read(blank)]).to.deep.equal([[], []]);
    expect(tags.read(' ')).to.deep.equal([{ kind: 'text', text: ' '.repeat(101) }]);
    expect(tags.read('<think>')).to.deep.equal([{ kind: 'text', text: '<think>' }]);
  });
});
