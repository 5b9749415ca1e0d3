import { expect } from 'chai';
import * as fc from 'fast-check';
import { frameEvents } from '#plugins/upstreams/bedrock/frame-events.js';
import { encodeFrame } from '#plugins/upstreams/bedrock/frames.js';
import { inPieces } from './pieces.js';

describe('the events within the frames of Bedrock', () => {
  it('are those that the service has put into them, byte for byte', () => {
    const json = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße"}}';
    expect(eventsOf(chunk(json))).to.equal(`event: content_block_delta\ndata: ${json}\n\n`);
  });

  it('are the same in any split of the bytes', () => {
    const bytes = Buffer.concat([
      chunk('{"type":"message_start","message":{}}'),
      chunk('{"type":"ping"}'),
      exception('throttlingException', { message: 'Too many requests' }),
    ]);
    const whole = eventsOf(bytes);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 20 }), (at) => {
        expect(eventsOf(...inPieces(bytes, at))).to.equal(whole);
      }),
    );
  });

  it('of several lines become one line', () => {
    expect(eventsOf(chunk('{\r\n  "type": "ping",\n  "note": "a\\nb"\n}'))).to.equal(
      'event: ping\ndata: {    "type": "ping",   "note": "a\\nb" }\n\n',
    );
  });

  it('are named by their own JSON where their type is far back, or of no usual form', () => {
    const late = `{"note":"${'x'.repeat(200)}","type":"ping"}`;
    expect(eventsOf(chunk(late))).to.equal(`data: ${late}\n\n`);
    const strange = '{"type":"a\\nevent: message_stop"}';
    expect(eventsOf(chunk(strange))).to.equal(`data: ${strange}\n\n`);
  });

  it('leave out frames without a type, without bytes, and of other kinds: keep-alives', () => {
    const other = encodeFrame({
      headers: { ':message-type': 'event', ':event-type': 'initial-response' },
      payload: Buffer.from('{}'),
    });
    expect(
      eventsOf(chunk('{}'), chunk('{"p":"abc"}'), chunk(''), frame('{"p":"abc"}'), frame(''), other),
    ).to.equal('');
  });

  it('that are no JSON are passed on, for the reader of the events to refuse', () => {
    expect(eventsOf(chunk('<html>'))).to.equal('data: <html>\n\n');
  });

  const kinds = {
    throttlingException: 'rate_limit_error',
    serviceUnavailableException: 'overloaded_error',
    modelNotReadyException: 'overloaded_error',
    internalServerException: 'api_error',
    modelStreamErrorException: 'api_error',
    modelTimeoutException: 'timeout_error',
    validationException: 'invalid_request_error',
    somethingNew: 'api_error',
  };
  for (const [name, type] of Object.entries(kinds))
    it(`are an error of the type ${type} for a ${name}`, () => {
      const [, data = ''] = eventsOf(exception(name, { message: 'Because.' })).split('\ndata: ');
      expect(JSON.parse(data)).to.deep.equal({
        type: 'error',
        error: { type, code: name, message: 'Because.' },
      });
    });

  it('are an error for an error frame, by its headers', () => {
    const headers = { ':message-type': 'error', ':error-code': 'Gone', ':error-message': 'No\nmore.' };
    expect(eventsOf(encodeFrame({ headers, payload: Buffer.alloc(0) }))).to.equal(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","code":"Gone","message":"No\\nmore."}}\n\n',
    );
  });
});

function eventsOf(...reads: readonly Buffer[]): string {
  const unframe = frameEvents();
  return Buffer.concat(reads.map((read) => unframe(read))).toString();
}

function frame(payload: string): Buffer {
  return encodeFrame({
    headers: { ':message-type': 'event', ':event-type': 'chunk' },
    payload: Buffer.from(payload),
  });
}

function chunk(json: string): Buffer {
  return frame(JSON.stringify({ bytes: Buffer.from(json).toString('base64'), p: 'abcdefgh' }));
}

function exception(name: string, payload: object): Buffer {
  return encodeFrame({
    headers: { ':message-type': 'exception', ':exception-type': name },
    payload: Buffer.from(JSON.stringify(payload)),
  });
}
