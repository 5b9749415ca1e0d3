import { expect } from 'chai';
import { storeErrors } from '#src/config/sections/state.js';

describe('the address of a store', () => {
  for (const name of ['schema', 'currentSchema', 'search_path'])
    it(`is refused with ?${name}=, which PostgreSQL lacks, and says what to write`, () => {
      for (const query of [`?${name}=gw`, `?sslmode=require&${name}=gw`])
        expect(storeErrors(`postgres://gw:hidden@db/gw${query}`)).to.deep.equal([
          {
            path: ['store'],
            message: `has the parameter "${name}", which PostgreSQL does not have; use ?options=-c search_path=NAME`,
          },
        ]);
      expect(storeErrors(`postgres://gw@db/gw?options=-c search_path=gw`)).to.deep.equal([]);
    });
});
