import { expect } from 'chai';
import { diffText } from '#src/cli/diff-text.js';

const nothing = { stages: [], pipelines: [], formats: [], slots: [], models: [], settings: [], restart: [] };

describe('the text of a difference', () => {
  it('has colours for a terminal alone', () => {
    const diff = { ...nothing, models: [{ name: 'm', change: 'added' as const, settings: [] }] };
    expect(diffText(diff, { isColoured: false })).to.equal('models\n  + m\n');
    expect(diffText(diff, { isColoured: true })).to.equal(
      '\u001B[1mmodels\u001B[22m\n  \u001B[32m+ m\u001B[39m\n',
    );
  });

  it('has no sign that a terminal would obey, and no long value whole', () => {
    const settings = [
      { path: 'a', change: 'changed' as const, before: '\u001B[2J\u009B\u202E', after: 'x'.repeat(1000) },
    ];
    const text = diffText({ ...nothing, settings }, { isColoured: false });
    expect(text).to.include(String.raw`\u{1b}[2J\u{9b}\u{202e} -> xxx`);
    expect(text.length).to.be.below(300);
  });

  it('says where a stage has moved, and that it is switched off', () => {
    const off = { path: 'enabled', change: 'changed' as const, before: true, after: false };
    const stages = [
      { name: 'a', change: 'changed' as const, moved: { was: 'b', now: null }, settings: [off] },
    ];
    expect(diffText({ ...nothing, stages }, { isColoured: false })).to.equal(
      'stages\n  ~ a: switched off; moved first, was after b\n',
    );
  });
});
