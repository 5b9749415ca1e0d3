import { expect } from 'chai';
import { array, assert, boolean, constantFrom, jsonValue, oneof, property, record, string } from 'fast-check';
import { parseInPieces, requestBytes, shareBytes } from '#src/plugin/raw/index.js';

describe('a large body', () => {
  it('may have white space between its messages, and no other control characters', () => {
    const message = JSON.stringify({ role: 'user', content: 'x'.repeat(9000) });
    const bodyWith = (gap: string) =>
      Buffer.from(`{"messages":[${message},${gap}${message},${gap}${message}]}`);
    expect(parseInPieces(bodyWith('\t\r\n '), true))
      .to.have.property('messages')
      .of.length(3);
    for (const gap of ['\u0001', '\u000b', ' \u0000'])
      expect(parseInPieces(bodyWith(gap), true)).to.equal(undefined);
  });

  it('is serialized once for the copies of a request that shares its bytes', () => {
    const request = shareBytes<object>({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    const [one, same] = [1, 2].map(() => requestBytes({ ...request, stream: true }));
    expect(same).to.equal(one);
    const other = requestBytes({ ...request, stream: false });
    expect(other.toString()).to.equal(JSON.stringify({ ...request, stream: false }));
    expect(requestBytes({ ...request, stream: true }).equals(one!)).to.equal(true);
    expect(requestBytes({ ...request }).equals(Buffer.from(JSON.stringify(request)))).to.equal(true);
  });

  it('means what its JSON says, however it is written', () => {
    assert(
      property(several, around, indents, boolean(), (list, others, indent, isFirst) => {
        const { tools, ...rest } = others;
        const body = { model: 'm', ...(isFirst && { tools }), messages: list.map(long), ...rest, tools };
        const text = JSON.stringify(body, undefined, indent);
        const parsed = parse(text);
        expect(JSON.stringify(parsed)).to.equal(JSON.stringify(JSON.parse(text)));
        expect(JSON.parse(written(parsed))).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 200 },
    );
  });

  it('goes out with its messages as they came, to the byte', () => {
    const odd = `{"role":"user" , "content":"${fill}\\u00e9é\\/\\ud800","a":1.0,"b":-0,"c":1e400,"__proto__":{},"a":2}`;
    for (const list of [[odd, user, odd, user], [user, `${odd}\n`], [odd.replace(fill, fill + fill)]]) {
      const text = bodyOf(...list);
      expect(written(parse(text)) === text, text.slice(0, 60)).to.equal(true);
    }
  });

  it('goes out with its tools and system blocks as they came, wherever they stand', () => {
    const tools = '[ {"name":"\\u0061","n":1.0,"one":[{"of":[{}]}]} , {"a":{"tools":[{}]}}]';
    const system = '[{"type":"text","text":"\\u00e9 \\"tools\\": [{}]"}]';
    for (const text of [
      `{"tools":${tools},"system" : ${system} , "model":"m","messages":[${user},${user},${user}]}`,
      `{"messages":[${user},${user},${user}],"system":${system},"tools":${tools}}`,
      `{"system":${system},"messages":[${user},${user},${user}],"tools":${tools},"stream":true}`,
    ]) {
      const body = parse(text) as Record<string, unknown>;
      expect(JSON.stringify(body)).to.equal(JSON.stringify(JSON.parse(text)));
      expect(written({ ...body, max_tokens: 1 }).replaceAll(' ', '')).to.equal(
        `${text.slice(0, -1)},"max_tokens":1}`.replaceAll(' ', ''),
      );
    }
  });

  it('goes out with the tools and system blocks that stages have made', () => {
    const text = bodyOf(user, user, user).replace('{', '{"tools":[{"name":"a"}],"system":[{"text":"b"}],');
    const body = parse(text) as { tools: object[]; system: object[]; messages: object[] };
    const [tools, system] = [
      [...body.tools, { name: 'c' }],
      [{ text: 'first' }, ...body.system],
    ];
    for (const changed of [
      { ...body, tools, system },
      { ...body, tools: undefined, system: 'text' },
      { ...body, tools: body.system, system: body.tools },
    ])
      expect(written(changed)).to.equal(JSON.stringify(changed));
    Object.assign(body.tools[0]!, { name: 'written into' });
    expect(written({ ...body })).to.equal(JSON.stringify(body));
  });

  it('keeps the texts of the tools and system blocks beside those that stages have added or changed', () => {
    const odd = '{"name":"\\u0061","n":1.0}';
    const added = '{"name":"added"}';
    const textWith = (tools: readonly string[], system: readonly string[]) =>
      `{"tools":[${tools.join(',')}],"system":[${system.join(',')}],"messages":[${user},${user}]}`;
    const body = parse(textWith([odd, '{"name":"b"}'], [odd, odd])) as { tools: object[]; system: object[] };
    const tool = JSON.parse(added) as object;
    const changed = { ...body, tools: [...body.tools, tool], system: [tool, ...body.system] };
    expect(written(changed)).to.equal(textWith([odd, '{"name":"b"}', added], [added, odd, odd]));
    const other = { ...body, tools: body.tools.with(1, tool), system: body.system.slice(1) };
    expect(written(other)).to.equal(textWith([odd, added], [odd]));
  });

  it('is parsed as a whole where a list is not a field of the body, or comes twice', () => {
    for (const others of [
      '"metadata":{"tools":[{"a":1}],"model":"m"}',
      '"tools":[{"a":1}],"stream":false,"tools":[{"b":1}],"max_tokens":1',
      '"system":[{"a":[{"b":1}],"model":"m"}],"stream":true',
    ]) {
      const text = `{"messages":[${user},${user},${user}],${others}}`;
      expect(parse(text)).to.deep.equal(JSON.parse(text));
      expect(JSON.parse(written(parse(text)))).to.deep.equal(JSON.parse(text));
    }
  });

  it('goes out as what stages have made of it', () => {
    const { body, text } = conversation(9);
    const marked = { ...message(8), content: 'marked' };
    expect(written({ ...body, messages: body.messages.with(8, marked) })).to.equal(
      text.replace(JSON.stringify(message(8)), JSON.stringify(marked)),
    );
    const changes: readonly ((list: readonly unknown[]) => unknown)[] = [
      (list) => list.with(0, marked),
      (list) => list.with(4, marked),
      (list) => [marked, ...list],
      (list) => [...list, marked],
      (list) => [marked, ...list, marked],
      (list) => list.slice(3),
      (list) => list.slice(0, 3),
      (list) => list.toSpliced(3, 2),
      (list) => list.toSpliced(3, 1, marked, marked),
      (list) => list.toReversed(),
      (list) => [...list, ...list],
      (list) => list.map(() => list[0]),
      () => [],
      () => [undefined],
      () => 'none',
      () => undefined,
    ];
    for (const change of changes) {
      const changed = { ...body, messages: change(body.messages), system: 's' };
      expect(written(changed)).to.equal(JSON.stringify(changed));
    }
  });

  it('keeps the texts of the messages beside those that stages have changed', () => {
    const short = (at: number) =>
      `{"role":"user" , "content":"${at} \\u00e9","a":1.0,"b":"${'x'.repeat(150)}"}`;
    const texts = [user, user, ...Array.from({ length: 12 }, (_, at) => short(at))];
    const marked = JSON.stringify({ role: 'user', content: 'marked' });
    const body = parse(bodyOf(...texts)) as { messages: unknown[] };
    for (const list of [texts.with(5, marked), texts.with(2, marked).with(13, marked), [marked, ...texts]]) {
      const messages = list.map((text, at) =>
        text === marked ? JSON.parse(marked) : body.messages[at - (list.length - texts.length)],
      );
      expect(written({ ...body, messages })).to.equal(bodyOf(...list));
    }
  });

  it('goes out as it is where somebody has written into it', () => {
    const writes: readonly ((message: Record<string, unknown>, list: unknown[]) => unknown)[] = [
      (message) => (message['content'] = 'redacted'),
      (message) => delete message['role'],
      (message) => (message['more'] = 1),
      (message) => (message['parts'] = []),
      (message) => Object.assign(message['parts'] as object, { 0: 'b' }),
      (message) => (message['parts'] as unknown[]).push('b'),
      (message) => {
        // One part fewer and one more at the same place.
        (message['parts'] as unknown[]).push('last', 1);
        delete message['last'];
      },
      (_, list) => list.pop(),
      (_, list) => list.copyWithin(0, 2),
    ];
    for (const [index, write] of writes.entries()) {
      const { body } = conversation(6);
      write(body.messages[index % 2 === 0 ? 0 : 3] as Record<string, unknown>, body.messages);
      expect(written({ ...body })).to.equal(JSON.stringify(body));
    }
  });

  it('is read with names that come twice as JSON is: the last one counts', () => {
    const twice = `{"messages":[${user},${user},${user}],"model":"m","messages":[{"role":"user","content":"b"}]}`;
    expect(parse(twice)).to.deep.equal(JSON.parse(twice));
    const text = bodyOf(user, user, user).replace('{', '{"model":"other",');
    expect(written(parse(text))).to.equal(bodyOf(user, user, user));
  });

  it('is not taken apart where objects within a message look like messages', () => {
    const nested = `{"role":"user","content":[${user},${user},${user}]}`;
    for (const text of [
      bodyOf(nested, nested),
      bodyOf(user, nested, user),
      `{"a":[${bodyOf(nested, user)}]}`,
    ])
      expect(written(parse(text))).to.equal(text);
    const inner = `{"tools":[{"messages":[${user},${user},${user}]}],"messages":[${user},${user}],"model":"m"}`;
    expect(written(parse(inner))).to.equal(inner);
  });

  it('is not JSON wherever one of its parts is not', () => {
    const whole = bodyOf(user, user, user, user);
    for (const broken of [
      bodyOf(user, `${user},`, user, user),
      bodyOf(user, user, `${user}],[${user}`, user),
      bodyOf(user, `${user}}`, user),
      bodyOf(user, user.replace('}', ''), user),
      whole.slice(0, -1),
      whole.slice(0, -2),
      `${whole}]`,
      whole.replace('"model"', 'model'),
      whole.replace('Some', '\n'),
      `\uFEFF${whole}`,
    ])
      expect(parseInPieces(Buffer.from(broken), true)).to.equal(undefined);
    expect(parseInPieces(Buffer.from(whole.replaceAll('x', '\xe9'), 'latin1'), true)).to.equal(undefined);
  });

  it('is left as it came by being read', () => {
    const bytes = Buffer.from(bodyOf(user, user, user));
    const before = Buffer.from(bytes);
    parseInPieces(bytes, true);
    expect(bytes.equals(before)).to.equal(true);
  });

  it('must not be nested too deeply', () => {
    const deep = `{"role":"user","content":${'['.repeat(600)}${']'.repeat(600)},"text":"${fill}"}`;
    expect(() => parse(bodyOf(user, deep, user))).to.throw(
      'body: must not be nested more than 500 levels deep',
    );
  });
});

const fill = 'x "y" \\\n'.repeat(1000).replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n');

const user = JSON.stringify({ role: 'user', content: `${'Some text. '.repeat(900)}é` });

const messages = oneof(
  record({ role: constantFrom('user', 'assistant'), content: string({ unit: 'binary' }) }),
  record({ role: constantFrom('user', 'assistant'), content: array(jsonValue(), { maxLength: 3 }) }),
  record({ content: string(), role: constantFrom('user') }),
);
const lists = oneof(jsonValue(), array(record({ type: string(), of: jsonValue() }), { maxLength: 3 }));
const around = record({ system: lists, tools: lists, stream: constantFrom(true) }, { requiredKeys: [] });
const several = array(messages, { minLength: 4, maxLength: 12 });
const indents = constantFrom(undefined, undefined, 1);

/** Some of them long enough to be cut between. */
function long(message: object, index: number): object {
  return index % 3 === 0 ? { ...message, more: 'text '.repeat(2500) } : message;
}

function message(index: number) {
  return { role: 'user', content: `${index} ${'text '.repeat(1800)}`, parts: ['a'], last: 1 };
}

function conversation(length: number) {
  const text = JSON.stringify({
    model: 'm',
    messages: Array.from({ length }, (_, at) => message(at)),
    stream: true,
  });
  return { text, body: parse(text) as { messages: unknown[] } };
}

function bodyOf(...list: readonly string[]): string {
  return `{"model":"m","messages":[${list.join(',')}],"stream":true}`;
}

function parse(text: string): object {
  return parseInPieces(Buffer.from(text), true) ?? (JSON.parse(text) as object);
}

function written(request: object): string {
  return requestBytes(request).toString();
}
