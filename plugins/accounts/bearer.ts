import { Type } from '@gw2api/gateway/plugin';
import { defineAccount } from '@gw2api/gateway/plugin/upstream';
import { secretErrors } from './shared/option-errors.js';

/** A fixed token in `authorization: Bearer`, such as AWS_BEARER_TOKEN_BEDROCK. */
export default defineAccount({
  name: 'bearer',
  api: 1,
  options: Type.Object(
    { token: Type.String({ minLength: 1, secret: true, title: 'Token' }) },
    { title: 'Bearer token' },
  ),
  check: ({ token }) => secretErrors('token', token),
  open({ token }) {
    const credential = { authorization: `Bearer ${token.trim()}` };
    return { authorize: () => credential };
  },
});
