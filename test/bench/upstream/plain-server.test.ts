import { expect } from 'chai';
import { RequestReader } from './plain-server.js';

const sized = 'POST /words-64/v1/messages HTTP/1.1\r\nhost: a\r\nContent-Length: 5\r\n\r\nhello';
const chunked = 'POST /bulk HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
const bare = 'GET /health HTTP/1.1\r\nhost: a\r\n\r\n';

function pathsIn(text: string, size: number): readonly string[] {
  const paths: string[] = [];
  const reader = new RequestReader((path) => paths.push(path));
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  for (const piece of pieces) reader.take(Buffer.from(piece));
  return paths;
}

describe('the server of the scripted upstream', () => {
  for (const size of [1, 7, 1000]) {
    it(`finds the end of each request in pieces of ${size} bytes`, () => {
      expect(pathsIn(sized, size)).to.deep.equal(['/words-64/v1/messages']);
      expect(pathsIn(chunked, size)).to.deep.equal(['/bulk']);
      expect(pathsIn(bare, size)).to.deep.equal(['/health']);
    });
  }

  it('answers nothing before the body is whole', () => {
    expect(pathsIn(sized.slice(0, -1), 1000)).to.deep.equal([]);
    expect(pathsIn(chunked.slice(0, -1), 1000)).to.deep.equal([]);
  });
});
