import { Type } from 'gw2api/plugin';
import { defineAccount } from 'gw2api/plugin/upstream';
import { secretErrors } from './shared/secret-errors.js';

/** A fixed key, in the header of either vendor. */
export default defineAccount({
  name: 'api-key',
  api: 1,
  options: Type.Object(
    {
      key: Type.String({ minLength: 1, secret: true }),
      header: Type.Enum(['x-api-key', 'authorization'], { default: 'x-api-key', title: 'Sent as' }),
    },
    { title: 'API key' },
  ),
  check: ({ key }) => secretErrors('key', key),
  open({ key, header }) {
    const secret = key.trim();
    const credential =
      header === 'x-api-key' ? { 'x-api-key': secret } : { authorization: `Bearer ${secret}` };
    return { authorize: () => credential };
  },
});
