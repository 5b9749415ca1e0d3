import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { signedHeaders, signingKey } from '#src/plugin/remote/index.js';

const base64 = `whsec_${randomBytes(24).toString('base64')}`;
const text = 'a secret in plain text';

describe('the signature of a question', () => {
  const body = JSON.stringify({ version: 1, text: 'Grüße 😀' });
  const message = { id: 'req_1.events.7', atMs: Date.now(), body };

  it('is verified by the package of Standard Webhooks, for a secret in base64', () => {
    const headers = signedHeaders(message, [signingKey(base64)]);
    expect(new Webhook(base64).verify(body, { ...headers })).to.deep.equal(JSON.parse(body));
    expect(headers).to.include({ 'webhook-id': 'req_1.events.7' });
  });

  it('is verified for a secret in plain text, and over bytes', () => {
    const headers = signedHeaders({ ...message, body: Buffer.from(body) }, [signingKey(text)]);
    expect(new Webhook(text, { format: 'raw' }).verify(body, { ...headers })).to.deep.equal(JSON.parse(body));
  });

  it('is there for each of two secrets while one replaces the other', () => {
    const headers = { ...signedHeaders(message, [base64, text].map(signingKey)) };
    expect(headers['webhook-signature']?.split(' ')).to.have.length(2);
    expect(() => new Webhook(base64).verify(body, headers)).not.to.throw();
    expect(() => new Webhook(text, { format: 'raw' }).verify(body, headers)).not.to.throw();
  });

  it('fails for another body, another id and another secret', () => {
    const headers = { ...signedHeaders(message, [signingKey(base64)]) };
    const webhook = new Webhook(base64);
    expect(() => webhook.verify(`${body} `, headers)).to.throw('No matching signature');
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'req_2.events.7' })).to.throw();
    expect(() => new Webhook(text, { format: 'raw' }).verify(body, headers)).to.throw();
  });

  it('is left out without a secret', () => {
    expect(signedHeaders(message, [])).to.have.all.keys('webhook-id', 'webhook-timestamp');
  });
});
