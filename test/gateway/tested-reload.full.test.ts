import { refusesAtSighup, takesTested, TestedGateway } from './tested-reload.js';

describe('a reload of a config with tests', () => {
  const gateway = new TestedGateway();
  before(() => gateway.start(2));
  after(() => gateway.end());

  it('takes it where they pass, and keeps the old one where one fails: 2 processes', () =>
    takesTested(gateway, 2));

  it('is refused at SIGHUP too where one fails: 2 processes', () => refusesAtSighup(gateway, 2));
});
