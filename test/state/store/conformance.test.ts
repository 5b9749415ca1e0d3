import { describeStore } from './conformance.js';
import { describeManyRows } from './many-rows.js';
import { emptiedOpener, opener, ownPostgres, ownSqlite, postgresUrl } from './stores.js';

describe('a store in memory', () => {
  const open = opener(async () => ({ where: { kind: 'memory' }, remove: async () => undefined }));
  describeStore(open);
  describeManyRows('memory', open);
});

describe('a store in a SQLite file', () => {
  describeStore(emptiedOpener(ownSqlite));
  describeManyRows('a SQLite file', opener(ownSqlite));
});

describe('a store in PostgreSQL', () => {
  if (postgresUrl === undefined) it('is tested where GW_TEST_POSTGRES_URL names a server');
  else {
    const makePlace = () => ownPostgres(postgresUrl!);
    describeStore(emptiedOpener(makePlace));
    describeManyRows('PostgreSQL', opener(makePlace));
  }
});
