import { LoadGenerator } from '../load/generator.js';
import { interleave, type Contender } from '../measure/rounds.js';
import { costTable, rowsOf } from '../report/cost-table.js';
import { startGateway, type GatewaySettings } from '../targets/gateway.js';
import type { Ask } from '../workloads.js';
import type { Report, Section, Setting } from './section.js';

/** CPU time of the ledger and of the check of a protocol key: W2 with and without them. */
export const state: Section = {
  name: 'state',
  title: 'W2 with and without what is kept: the ledger, and protocol keys',
  weight: 3,
  run: measure,
};

const ask: Ask = { format: 'messages', isStream: true, script: 'words-64' };
const bare = 'memory, master key';

const variants: Readonly<Record<string, GatewaySettings>> = {
  'sqlite, protocol key': {},
  'sqlite, master key': { key: 'master' },
  [bare]: { store: 'memory', key: 'master' },
};

async function measure(setting: Setting): Promise<Report> {
  const { lab, requests = 1500, isQuick } = setting;
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const generator = await LoadGenerator.start(lab);
  const contenders: Contender[] = [];
  for (const [name, settings] of Object.entries(variants)) {
    const target = await startGateway(lab, upstream.origin, settings);
    contenders.push({ name, target, ask, requests: Math.ceil(requests / (isQuick ? 3 : 1)) });
  }
  const rows = rowsOf([bare], await interleave(contenders, generator, setting));
  return { text: costTable([], rows), rows };
}
