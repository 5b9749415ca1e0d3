// A remote stage of gw2api: REMOTE_SECRET=whsec_… PORT=9400 node remote.mjs
// It denies requests with one of `context: { words: […] }`, and hides e-mail addresses in answers.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
const { PORT = '9400', REMOTE_SECRET: secret = '' } = process.env;
const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
if (key.length === 0) throw new Error('REMOTE_SECRET is missing: the secret of the stage.');
const seen = new Set(); // signatures of ten minutes: no question is answered twice
function isAuthentic({ 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': given = '' }, body) {
  const signature = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
  const right = Buffer.from(`v1,${signature}`);
  const isRight = (one) => one.length === right.length && timingSafeEqual(one, right);
  if (!given.split(' ').some((one) => isRight(Buffer.from(one)))) return false;
  if (!/^\d+$/.test(at) || Math.abs(Date.now() / 1000 - at) > 300 || seen.has(signature)) return false;
  return seen.add(signature) && setTimeout(() => seen.delete(signature), 600_000).unref();
}
const hide = (text) => text.replace(/(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)+/g, '[e-mail]');
const phases = {
  request({ request, context }) {
    const text = JSON.stringify(request?.messages ?? []).toLowerCase();
    const word = context?.words?.find((each) => text.includes(each.toLowerCase()));
    return word ? { verdict: 'deny', message: `"${word}" is not allowed.` } : { verdict: 'allow' };
  },
  answer({ answer: { content } }) {
    for (const block of content) if (block.type === 'text') block.text = hide(block.text);
    return { verdict: 'change', content };
  },
  events({ events, last }) {
    const [texts, deltas] = [{}, events.filter(({ delta }) => delta?.type === 'text_delta')];
    for (const { index, delta } of deltas) texts[index] = (texts[index] ?? '') + delta.text;
    const end = (texts[events.at(-1)?.index] ?? '').slice(-321); // held while it may begin an address
    if (!last && /(^|[^\w.+@-])[\w.+@-]{1,320}$/.test(end)) return { verdict: 'hold' };
    if (Object.values(texts).every((text) => hide(text) === text)) return { verdict: 'allow' };
    for (const { index, delta } of deltas) [delta.text, texts[index]] = [hide(texts[index]), ''];
    return { verdict: 'change', events };
  },
};
createServer(async (request, response) => {
  const send = (status, reply) => response.writeHead(status).end(JSON.stringify(reply));
  try {
    if (!(request.headers['content-length'] <= 64e6)) return send(413, { error: 'It is too long.' });
    const body = Buffer.concat(await request.toArray());
    if (!isAuthentic(request.headers, body)) return send(401, { error: 'The signature is not valid.' });
    const question = JSON.parse(body);
    if (question.version !== 1) return send(400, { error: 'The version is unknown.' });
    send(200, { version: 1, ...phases[question.phase](question) });
  } catch (error) {
    send(400, { error: error.message });
  }
}).listen(PORT, '127.0.0.1');
