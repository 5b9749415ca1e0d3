import { Type } from '@gw2api/gateway/plugin';
import { defineAccount } from '@gw2api/gateway/plugin/upstream';

/** Account for an upstream without credentials. */
export default defineAccount({
  name: 'none',
  api: 1,
  options: Type.Object({}, { title: 'None', description: 'For an upstream that needs no credential.' }),
  open: () => ({ authorize: () => ({}) }),
});
