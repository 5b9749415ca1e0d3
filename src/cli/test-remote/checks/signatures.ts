import { createHmac, randomBytes } from 'node:crypto';
import { signedHeaders } from '../../../plugin/remote/index.js';
import type { RemoteCheck } from '../check.js';
import { CheckFailure } from '../check-failure.js';
import { requestQuestion } from '../questions.js';
import { uniqueId, type Message, type RemoteServer } from '../remote-server.js';

/** Checks of signatures, by Standard Webhooks. */
export const signatureChecks: readonly RemoteCheck[] = [
  refusing('no-signature', 'refuses a question without a signature', () => ({
    headers: { 'webhook-signature': '' },
  })),
  refusing('other-secret', 'refuses the signature of another secret', () => ({ key: randomBytes(24) })),
  refusing('changed-body', 'refuses a body that was changed after its signature', ({ signed }) => ({
    headers: signed,
    body: JSON.stringify(requestQuestion()),
  })),
  refusing('changed-id', 'refuses an id that was changed after its signature', ({ signed }) => ({
    headers: { ...signed, 'webhook-id': uniqueId() },
  })),
  refusing('changed-timestamp', 'refuses a timestamp that was changed after its signature', ({ signed }) => ({
    headers: { ...signed, 'webhook-timestamp': String(Number(signed['webhook-timestamp']) + 1) },
  })),
  refusing('old-timestamp', 'refuses a timestamp of six minutes ago', () => ({
    atMs: Date.now() - sixMinutesMs,
  })),
  refusing('future-timestamp', 'refuses a timestamp in six minutes', () => ({
    atMs: Date.now() + sixMinutesMs,
  })),
  refusing('broken-timestamp', 'refuses a timestamp that is not a number', ({ id, body, key }) => ({
    headers: signedBy(key, { id, timestamp: 'NaN', body }),
  })),
  refusing('short-signature', 'refuses a signature that is cut', ({ signed }) => ({
    headers: { ...signed, 'webhook-signature': String(signed['webhook-signature']).slice(0, 8) },
  })),
  refusing('empty-signature', 'refuses a signature of no bytes', ({ signed }) => ({
    headers: { ...signed, 'webhook-signature': 'v1,' },
  })),
  {
    name: 'second-signature',
    rule: 'accepts a question if one of its signatures is right',
    needsSecret: true,
    async run(server) {
      const { signed, id, body } = draft(server);
      const other = Buffer.from(randomBytes(32)).toString('base64');
      const signature = `v1,${other} v2,${other} ${signed['webhook-signature']}`;
      const { status } = await server.send({
        id,
        body,
        headers: { ...signed, 'webhook-signature': signature },
      });
      if (status !== 200) throw new CheckFailure(`it answered ${status}`);
    },
  },
  {
    name: 'replay',
    rule: 'refuses a message that it has answered before',
    needsSecret: true,
    async run(server) {
      const { signed: headers, id, body } = draft(server);
      const { status } = await server.send({ id, body, headers });
      if (status !== 200) throw new CheckFailure(`it answered ${status} the first time`);
      await server.refuses({ id, body, headers });
    },
  },
];

const sixMinutesMs = 6 * 60_000;

/** Signed message before it is changed. */
interface Draft {
  readonly id: string;
  readonly body: string;
  readonly key: Buffer;
  readonly signed: Readonly<Record<string, string>>;
}

function refusing(name: string, rule: string, change: (draft: Draft) => Partial<Message>): RemoteCheck {
  return {
    name,
    rule,
    needsSecret: true,
    async run(server) {
      const drafted = draft(server);
      await server.refuses({ id: drafted.id, body: drafted.body, ...change(drafted) });
    },
  };
}

function draft({ target }: RemoteServer): Draft {
  const key = target.key ?? Buffer.alloc(0); // checks of signatures run with a secret
  const id = uniqueId();
  const body = JSON.stringify(requestQuestion());
  return { id, body, key, signed: signedHeaders({ id, atMs: Date.now(), body }, [key]) };
}

/** Headers with a right signature over any timestamp. */
function signedBy(
  key: Buffer,
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: string },
): Readonly<Record<string, string>> {
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
