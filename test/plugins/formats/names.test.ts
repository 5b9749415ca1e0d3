import { expect } from 'chai';
import { fileBlock, imageBlock } from '#plugins/formats/shared/media.js';
import { narrowed } from '../../plugin/narrowing/narrowed.js';

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
      const request = {
        model: 'm',
        messages: [{ role: 'user', content: 'x' }],
        thinking: { type: 'adaptive' },
        output_config: { effort: word },
      } as const;
      const { request: sent, losses } = narrowed(request);
      expect(sent).to.deep.equal({ model: 'm', messages: request.messages });
      expect(losses).to.deep.equal(['output_config.effort']);
    });
  }
});
