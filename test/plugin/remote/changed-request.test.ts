import { expect } from 'chai';
import { array, assert, constant, constantFrom, oneof, property, record, string } from 'fast-check';
import { allExtras, withExtras, type MessagesRequest } from '#src/plugin/index.js';
import { keepRequestInputs, bodyWithInputs } from '#src/plugin/raw/index.js';
import {
  changedRequest,
  requestParts,
  requestView,
  viewJson,
  type RequestChange,
  type RequestPart,
} from '#src/plugin/remote/index.js';

const text = JSON.stringify({
  model: 'm',
  max_tokens: 5,
  system: [{ type: 'text', text: 'Be kind.' }],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  messages: [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 't1', name: 'look', input: { id: 0, to: 'Jo', list: [1, 'a'] } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'secret' }] },
  ],
}).replace('"id":0', '"id":12345678901234567890');

function live(): MessagesRequest {
  const body = JSON.parse(text) as MessagesRequest;
  keepRequestInputs(body, Buffer.from(text));
  return body;
}

/** Parsed view of a request. */
// oxlint-disable-next-line typescript/no-explicit-any -- any JSON
type View = any;

/** The request after a reply whose view was edited, as a service sends it. */
function afterSet(
  request: MessagesRequest,
  edit: (view: View) => void,
  parts: readonly RequestPart[] = requestParts,
): MessagesRequest {
  const view: View = JSON.parse(viewJson(requestView(request, parts)));
  edit(view);
  return changedRequest(request, parts, { version: 1, verdict: 'change', set: view });
}

function patched(
  request: MessagesRequest,
  patch: readonly object[],
  parts: readonly RequestPart[] = requestParts,
): MessagesRequest {
  return changedRequest(request, parts, { version: 1, verdict: 'change', patch } as RequestChange);
}

describe('a changed request', () => {
  it('is the request itself if a reply sends everything back', () => {
    const request = live();
    expect(afterSet(request, () => undefined)).to.equal(request);
  });

  it('keeps all parts that a reply leaves alone, and their numbers', () => {
    const request = live();
    const changed = afterSet(request, (view) => (view.messages[2].content[0].content = '***'));
    expect(changed.messages[2]!.content[0]).to.include({ content: '***', tool_use_id: 't1' });
    for (const at of [0, 1]) expect(changed.messages[at]).to.equal(request.messages[at]);
    expect(changed.tools).to.equal(request.tools);
    expect(String(bodyWithInputs(changed))).to.include('12345678901234567890');
  });

  it('keeps the numbers of a tool input of which another part is changed', () => {
    const changed = afterSet(live(), (view) => (view.messages[1].content[1].input.to = '***'));
    expect(String(bodyWithInputs(changed))).to.include(
      '"input":{"id":12345678901234567890,"to":"***","list":[1,"a"]}',
    );
  });

  it('keeps the messages behind one that is removed', () => {
    const request = live();
    const changed = afterSet(request, (view) => view.messages.shift());
    expect(changed.messages).to.deep.equal(request.messages.slice(1));
    expect(changed.messages[0]).to.equal(request.messages[1]);
  });

  it('keeps the extras of changed blocks, and prediction and extras change apart', () => {
    const block = withExtras({ type: 'text' as const, text: 'Hi' }, { name: 'Jo' });
    const request = withExtras<MessagesRequest>(
      { model: 'm', messages: [{ role: 'user', content: [block] }] },
      { seed: 1, prediction: { type: 'content', content: 'Hi' } },
    );
    const changed = afterSet(request, (view) => {
      expect(view.prediction).to.deep.equal({ type: 'content', content: 'Hi' });
      view.messages[0].content[0].text = 'Ho';
      view.prediction.content = 'Ho';
      view.extras[0].extras.seed = 2;
    });
    expect(allExtras(changed)).to.deep.equal([
      { place: '', extras: { prediction: { type: 'content', content: 'Ho' }, seed: 2 } },
      { place: 'messages[0].content[0]', extras: { name: 'Jo' } },
    ]);
    const without = afterSet(request, (view) => view.extras.pop(), ['extras']);
    expect(allExtras(without).map(({ place }) => place)).to.deep.equal(['']);
    expect(() => afterSet(request, (view) => view.extras.push({ place: 'x[9]', extras: { a: 1 } }))).to.throw(
      TypeError,
      'extras: "x[9]" is not a place of the request',
    );
  });

  it('loses its choice of tools with the last tool, and no tool that the choice requires', () => {
    const request: MessagesRequest = { ...live(), tool_choice: { type: 'tool', name: 'look' } };
    const changed = afterSet(request, (view) => (view.tools = null));
    expect(changed).to.not.have.any.keys('tools', 'tool_choice');
    expect(() => afterSet(request, (view) => (view.tools[0].name = 'see'))).to.throw(
      TypeError,
      'tools: lacks "look", which tool_choice requires',
    );
  });

  it('may be patched within the parts that were sent', () => {
    const request = live();
    const changed = patched(request, [
      { op: 'test', path: '/messages/0/content', value: 'Hi' },
      { op: 'add', path: '/messages/-', value: { role: 'user', content: 'a/b' } },
      { op: 'copy', from: '/messages/0', path: '/messages/1' },
      { op: 'remove', path: '/system' },
      { op: 'replace', path: '/model', value: 'n' },
    ]);
    expect(changed.messages.map(({ content }) => content)).to.deep.equal([
      'Hi',
      'Hi',
      ...[1, 2].map((at) => request.messages[at]!.content),
      'a/b',
    ]);
    expect(changed).to.include({ model: 'n' }).and.not.have.property('system');
    expect(() => patched(request, [{ op: 'replace', path: '/model', value: 'n' }], ['messages'])).to.throw(
      TypeError,
      'patch[0]: /model is missing',
    );
    expect(() => patched(request, [{ op: 'add', path: '/model', value: 'n' }], ['messages'])).to.throw(
      TypeError,
      'model: is not among the parts that were sent',
    );
  });

  const wrong: Readonly<Record<string, readonly [patch: readonly object[], message: string]>> = {
    'a failed test': [[{ op: 'test', path: '/model', value: 'x' }], 'patch[0]: /model has another value'],
    'a method of a list': [
      [{ op: 'replace', path: '/messages/push/call', value: 1 }],
      'patch[0]: /messages/push/call is missing',
    ],
    'a prototype': [
      [{ op: 'add', path: '/messages/0/__proto__/polluted', value: 1 }],
      'patch[0]: /messages/0/__proto__/polluted is missing',
    ],
    'an index beyond the end': [
      [{ op: 'add', path: '/messages/9', value: {} }],
      'patch[0]: /messages/9 is missing',
    ],
    'a move into itself': [
      [{ op: 'move', from: '/messages', path: '/messages/0' }],
      'patch[0]: /messages cannot be moved into itself',
    ],
    'a message without content': [
      [{ op: 'remove', path: '/messages/0/content' }],
      'messages[0].content: is required',
    ],
    'no messages': [
      [{ op: 'replace', path: '/messages', value: [] }],
      'patch: the result is not valid: messages: ',
    ],
    'a role of its own': [
      [{ op: 'replace', path: '/messages/0/role', value: 'root' }],
      'messages[0].role: must be one of',
    ],
  };
  for (const [what, [patch, message]] of Object.entries(wrong))
    it(`is refused for ${what}`, () => {
      expect(() => patched(live(), patch)).to.throw(TypeError, message);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });

  it('is refused for copies that double it again and again', () => {
    const doubling = Array.from({ length: 60 }, () => ({
      op: 'copy',
      from: '/messages',
      path: '/messages/0',
    }));
    expect(() => patched(live(), doubling)).to.throw(TypeError, 'the copies are too large');
  });

  it('equals the messages of any reply, as JSON', () => {
    const block = oneof(
      record({ type: constant('text'), text: string() }),
      record({ type: constant('tool_result'), tool_use_id: constant('t1'), content: string() }),
    );
    const message = record({
      role: constantFrom('user', 'assistant'),
      content: oneof(string(), array(block, { maxLength: 3 })),
    });
    const lists = array(message, { minLength: 1, maxLength: 4 });
    assert(
      property(lists, lists, (before, after) => {
        const request = { model: 'm', messages: before } as MessagesRequest;
        const changed = afterSet(request, (view) => (view.messages = after));
        expect(changed.messages).to.deep.equal(after);
      }),
    );
  });
});
