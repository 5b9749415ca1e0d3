import { describeStore } from './conformance.js';
import { opener, ownPostgres, ownSqlite, postgresUrl } from './stores.js';

describe('a store in memory', () => {
  describeStore(opener(async () => ({ where: { kind: 'memory' }, remove: async () => undefined })));
});

describe('a store in a SQLite file', () => {
  describeStore(opener(ownSqlite));
});

describe('a store in PostgreSQL', () => {
  if (postgresUrl === undefined) it('is tested where GW_TEST_POSTGRES_URL names a server');
  else describeStore(opener(() => ownPostgres(postgresUrl!)));
});
