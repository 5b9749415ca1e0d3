import { defineAccount } from 'gw2api/plugin/upstream';

/** For an upstream that asks for no credential. */
export default defineAccount({
  name: 'none',
  open: () => ({ authorize: () => ({}) }),
});
