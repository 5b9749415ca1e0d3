import { defineAccount } from 'gw2api/plugin/upstream';

/** Account for an upstream without credentials. */
export default defineAccount({
  name: 'none',
  api: 1,
  open: () => ({ authorize: () => ({}) }),
});
