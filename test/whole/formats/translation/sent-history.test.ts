import { expect } from 'chai';
import { startKinds, type SlotKinds } from '../../slots/upstreams/slot-kinds.js';

const model = 'sonnet-5';
const chat = '/v1/chat/completions';
const presets = ['generic', 'openai', 'openrouter', 'groq', 'mistral', 'ollama', 'vllm', 'llama-cpp'];
const slots = ['generic', 'openai', 'responses', 'messages'];
const page = 'https://example.com/a';
const pdf = 'data:application/pdf;base64,JVBERi0xLjQK';
const word = 'data:application/vnd.openxmlformats-officedocument.wordprocessingml.document;base64,UEsDBA==';

describe('the history of a request, as it is sent', () => {
  let kinds: SlotKinds;
  before(async () => {
    const without = ['persona-inject', 'web-search-tool', 'cache-ttl', 'max-tokens'];
    kinds = await startKinds({ presets, without });
  });
  after(() => kinds.close());

  async function send(slot: string, path: string, body: object) {
    const response = await kinds.ask(slot, path, { model, ...body });
    const answer = await response.text();
    const sent = JSON.parse(kinds.sent.at(-1)?.text ?? '{}') as Readonly<Record<string, unknown>>;
    return { status: response.status, answer, sent, dropped: response.headers.get('x-gw-dropped') };
  }

  describe('of system text alone', () => {
    const requests = {
      [chat]: { messages: [{ role: 'system', content: 'Say a word.' }] },
      '/v1/responses': { instructions: 'Say a word.' },
      '/v1/messages': { system: 'Say a word.', messages: [] },
    };
    for (const [path, body] of Object.entries(requests))
      it(`goes to chat and responses upstreams from ${path}`, async () => {
        const toChat = await send('generic', path, body);
        expect([toChat.status, toChat.dropped]).to.deep.equal([200, null]);
        expect(toChat.sent['messages']).to.deep.equal([{ role: 'system', content: 'Say a word.' }]);
        const content = [{ type: 'input_text', text: 'Say a word.' }];
        const { status, sent } = await send('responses', path, body);
        expect(status).to.equal(200);
        expect(sent['input']).to.deep.equal([{ type: 'message', role: 'developer', content }]);
        expect(sent).not.to.have.property('instructions');
      });

    it('is refused for a Messages upstream, by the name of the field', async () => {
      for (const [path, name] of [[chat, 'messages'], ['/v1/responses', 'input']] as const) {
        const { status, answer } = await send('messages', path, requests[path]);
        expect([status, answer]).to.deep.equal([400, answer]);
        expect(answer).to.include(`"${name}: must contain a`);
      }
    }); // prettier-ignore
  });

  describe('that ends with the assistant', () => {
    const messages = [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: '1, 2,' },
    ];
    const continuing = {
      openrouter: {},
      groq: {},
      ollama: {},
      'llama-cpp': {},
      mistral: { prefix: true },
      vllm: {},
    };
    for (const path of [chat, '/v1/messages'])
      it(`is continued where the server can, from ${path}`, async () => {
        for (const [slot, fields] of Object.entries(continuing)) {
          const { sent, dropped } = await send(slot, path, { messages, max_tokens: 100 });
          expect(sent['messages'], slot).to.deep.equal([messages[0], { ...messages[1], ...fields }]);
          expect(dropped, slot).to.equal(null);
          expect(sent['continue_final_message'], slot).to.equal(slot === 'vllm' ? true : undefined);
        }
        expect((await send('messages', path, { messages, max_tokens: 100 })).dropped).to.equal(null);
      });

    it('is reported as no prefix where the server answers it', async () => {
      for (const slot of ['generic', 'openai', 'responses']) {
        const { sent, dropped } = await send(slot, chat, { messages });
        expect(JSON.stringify(sent), slot).to.include('1, 2,');
        expect(dropped, slot).to.equal('messages[1].prefix');
      }
      const input = await send('responses', '/v1/responses', { input: messages });
      expect(input.dropped).to.equal('input[1].prefix');
    });

    it('is continued as its caller says where that is said', async () => {
      const own = { messages, continue_final_message: false };
      const { sent } = await send('vllm', chat, own);
      expect(sent)
        .to.include({ continue_final_message: false })
        .and.not.have.property('add_generation_prompt');
    });
  });

  describe('with files and search results', () => {
    const turn = (...content: readonly object[]) => ({
      max_tokens: 100,
      messages: [{ role: 'user', content }],
    });
    const text = { type: 'text', media_type: 'text/plain', data: 'DATA' };
    const result = {
      type: 'search_result',
      source: page,
      title: 'TITLE',
      content: [{ type: 'text', text: 'FOUND' }],
    };

    it('has search results as texts with title and source, those of tools too', async () => {
      const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
      const found = { type: 'tool_result', tool_use_id: 'toolu_1', content: [result] };
      const messages = [
        { role: 'user', content: [result] },
        { role: 'assistant', content: [use] },
        { role: 'user', content: [found] },
      ];
      for (const slot of ['generic', 'openai', 'responses']) {
        const { sent, dropped } = await send(slot, '/v1/messages', { messages, max_tokens: 100 });
        const texts = JSON.stringify(sent).match(/TITLE\\n[^"]*?\\n\\nFOUND/g);
        expect(texts, slot).to.deep.equal(Array(2).fill(`TITLE\\n${page}\\n\\nFOUND`));
        expect(dropped, slot).to.equal(null);
      }
    });

    it('has the context of documents, and reports citations', async () => {
      const about = { type: 'document', title: 'TITLE', context: 'CONTEXT', citations: { enabled: true } };
      const file = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' };
      const parts = { type: 'content', content: [{ type: 'text', text: 'DATA' }] };
      for (const slot of ['generic', 'openai', 'responses'])
        for (const source of [text, file, parts]) {
          const { sent, dropped } = await send(slot, '/v1/messages', turn({ ...about, source }));
          expect(JSON.stringify(sent), slot)
            .to.include('CONTEXT')
            .and.include(source === file && slot === 'generic' ? '' : 'TITLE');
          expect(dropped, slot).to.include('messages[0].content[0].citations');
        }
      const { sent, dropped } = await send('messages', chat, turn({ ...about, source: text }));
      expect(sent['messages']).to.deep.equal(turn({ ...about, source: text }).messages);
      expect(dropped).to.equal(null);
    });

    it('never has a base64 document or image of a type that Messages refuses', async () => {
      const svg = 'data:image/svg+xml;base64,PHN2Zy8+';
      const bmp = 'data:image/bmp;base64,Qk0=';
      const json = {
        type: 'base64',
        media_type: 'application/json',
        data: Buffer.from('{"a":1}').toString('base64'),
      };
      const { sent, dropped } = await send('messages', chat, turn(
        { type: 'file', file: { filename: 'a.docx', file_data: word } },
        { type: 'file', file: { filename: 'a.svg', file_data: svg } },
        { type: 'image_url', image_url: { url: bmp, detail: 'low' } },
        { type: 'document', source: json },
        { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
      )); // prettier-ignore
      const types = JSON.stringify(sent).match(/"media_type":"[^"]*"/g);
      expect(types).to.deep.equal(
        ['text/plain', 'text/plain', 'application/pdf'].map((type) => `"media_type":"${type}"`),
      );
      expect(JSON.stringify(sent)).to.include('[file a.docx left out').and.include('[image left out');
      expect(dropped).to.equal('messages[0].content[0], messages[0].content[2]');
    });

    it('has words in place of a file that is all of a turn', async () => {
      for (const slot of slots)
        for (const [filename, file_data] of [['a.docx', word], ['a.pdf', pdf]] as const) {
          const { status, sent, dropped } = await send(slot, chat, turn({ type: 'file', file: { filename, file_data } }));
          const isRead = slot === 'responses' || (filename === 'a.pdf' && slot !== 'generic');
          expect(status).to.equal(200);
          expect(/left out: this model cannot read it/.test(JSON.stringify(sent)), `${slot} ${filename}`).to.equal(!isRead);
          expect(dropped, `${slot} ${filename}`).to.equal(isRead ? null : 'messages[0].content[0]');
        }
    }); // prettier-ignore
  });

  it('names its user, or says that it does not', async () => {
    const messages = [{ role: 'user', content: 'x' }];
    const named = await send('openai', chat, { messages, user: 'u' });
    expect([named.sent['user'], named.dropped]).to.deep.equal(['u', null]);
    expect((await send('generic', chat, { messages, user: 'u' })).dropped).to.equal('user');
    const metadata = { user_id: 'u' };
    const { dropped } = await send('generic', '/v1/messages', { messages, metadata, max_tokens: 9 });
    expect(dropped).to.equal('metadata.user_id');
  });
});
