import { expect } from 'chai';
import { fileBlock, imageBlock } from '#plugins/formats/shared/media.js';
import { UnsupportedFields } from '#plugins/formats/shared/unsupported-fields.js';
import { planThinking } from '#plugins/formats/shared/thinking.js';

/** What looking a caller's word up in a plain object would find there. */
const inherited = ['constructor', '__proto__', 'toString'];

describe('words that every object knows', () => {
  for (const word of inherited) {
    it(`are a media type like any other: ${word}`, () => {
      const url = `data:${word};base64,aGk=`;
      const source = { type: 'base64', media_type: word.toLowerCase(), data: 'aGk=' };
      expect(imageBlock(url, 'url')).to.deep.equal({ type: 'image', source });
      expect(fileBlock(url, undefined, 'url')).to.deep.equal({ type: 'document', source });
    });

    it(`are no effort, and reported: ${word}`, () => {
      const dropped = new UnsupportedFields();
      const context = { model: undefined, maxTokens: undefined, isForced: false, messages: [] };
      const params = { effort: word, path: 'reasoning_effort', isShown: false };
      expect(planThinking(params, context, dropped)).to.deep.equal({});
      expect(dropped.paths).to.deep.equal(['reasoning_effort']);
    });
  }
});
