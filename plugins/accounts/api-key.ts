import { Type } from '@gw2api/gateway/plugin';
import { defineAccount, type Credential } from '@gw2api/gateway/plugin/upstream';
import { secretErrors } from './shared/option-errors.js';

/** A fixed key, in the header of either vendor. */
export default defineAccount({
  name: 'api-key',
  api: 1,
  options: Type.Object(
    {
      key: Type.String({ minLength: 1, secret: true }),
      header: Type.Optional(
        Type.Enum(['x-api-key', 'authorization', 'api-key'], {
          title: 'Sent as',
          description:
            'x-api-key | authorization (Bearer) | api-key. Default: the one of the upstream; messages: x-api-key.',
        }),
      ),
    },
    { title: 'API key' },
  ),
  check: ({ key }) => secretErrors('key', key),
  open({ key, header }) {
    const secret = key.trim();
    return { authorize: ({ keyHeader }) => credentialIn(header ?? keyHeader ?? 'x-api-key', secret) };
  },
});

function credentialIn(header: string, key: string): Credential {
  return { [header]: header === 'authorization' ? `Bearer ${key}` : key };
}
