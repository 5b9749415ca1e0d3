import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../eventually.js';
import { ask, masterKey, slotAt, stages, startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { promtool, startPrometheus, type Prometheus } from './prometheus-kit.js';

const folder = 'config/observability';

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

async function dashboard(): Promise<Dashboard> {
  return JSON.parse(await readFile(path.join(folder, 'grafana/dashboards/gw2api.json'), 'utf8')) as Dashboard;
}

async function alerts(): Promise<readonly { readonly alert: string; readonly expr: string }[]> {
  const { groups } = parse(await readFile(path.join(folder, 'alerts.yml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

/** Names of the metrics of an expression, as they are declared: without the suffixes of histograms. */
function metricsIn(expression: string): readonly string[] {
  const names = expression.match(/\b(?:gw2api|nodejs|process)_\w+/g) ?? [];
  return names.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
}

/** A query with the variables of the dashboard as Grafana sets them at first. */
function filledIn(expression: string): string {
  return expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:job|slot|model)\b/g, '.*');
}

/** Two gateways with all that there is to measure: failovers, limits, a queue, windows, caches, a fault of a stage. */
class Observed {
  #simulators: Simulator[] = [];
  gateways: GatewayUnderTest[] = [];

  async start(): Promise<void> {
    this.#simulators = await Promise.all([startSimulator(), startSimulator()]);
    const [one, two] = this.#simulators.map(({ url }) => url);
    const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite5m: 3.75, cacheWrite1h: 6 };
    const slots = [
      slotAt(one!, { price }),
      slotAt(two!, { id: 'b', price }),
      slotAt('http://127.0.0.1:1', { id: 'dead' }),
    ];
    const limits = { requestsPerMinute: 10_000, limitMaster: true };
    const pipeline = stages({
      with: {
        'slot-pick': { policy: 'round-robin' },
        'persona-inject': { text: 'Be kind.' },
        'rate-limit': limits,
      },
    });
    this.gateways = await Promise.all([1, 2].map(() => startGateway({ slots, pipeline })));
  }

  /** Some traffic of each sort, so that the counters grow between two scrapes. */
  async traffic(): Promise<void> {
    for (const gateway of this.gateways) {
      for (const [at, [route, body]] of requests.entries())
        await (await gateway.post(route, body, { 'x-session-id': `s${at}` })).text();
      await (await gateway.post('/admin/reload', {})).text();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway.close()));
    await Promise.all(this.#simulators.map((simulator) => simulator.close()));
  }
}

const cached = ask('[[sim:usage cache_read=500]] Hi', { stream: true });
const requests: readonly (readonly [string, object])[] = [
  ['/v1/messages', ask('One')],
  ['/v1/messages', cached],
  ['/v1/messages', ask('Three', { stream: true })],
  ['/v1/chat/completions', { model: 'sonnet-5', messages: [{ role: 'user', content: 'Four' }] }],
  ['/v1/responses', { model: 'haiku-5', input: 'Five', stream: true }],
  ['/v1/messages', ask('[[sim:500]]')],
  ['/v1/messages', ask('[[sim:400]]')],
];

describe('config/observability', () => {
  it('has an alert for each test, a test for each alert, and says what to do', async () => {
    const { tests } = parse(await readFile(path.join(folder, 'alerts.test.yml'), 'utf8')) as {
      tests: { name: string; alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
    };
    const firing = tests.flatMap(({ alert_rule_test: cases }) =>
      cases.filter(({ exp_alerts: expected }) => expected.length > 0).map(({ alertname }) => alertname),
    );
    expect(firing).to.have.members((await alerts()).map(({ alert }) => alert));
  });

  it('is scraped with a key from a file, at the path that the gateway has', async () => {
    const config = parse(await readFile(path.join(folder, 'prometheus.yml'), 'utf8')) as {
      scrape_configs: { job_name: string; metrics_path: string; authorization: { type: string } }[];
    };
    expect(config.scrape_configs).to.have.length(1);
    expect(config.scrape_configs[0]).to.deep.include({ job_name: 'gw2api', metrics_path: '/metrics' });
  });

  describe('beside the metrics of a gateway', () => {
    const observed = new Observed();
    let text = '';
    before(async function () {
      this.timeout(60_000);
      await observed.start();
      await observed.traffic();
      text = await (await observed.gateways[0]!.get('/metrics')).text();
    });
    after(() => observed.close());

    const declared = () => new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name!));

    it('names only metrics that there are', async () => {
      const { panels, templating, annotations } = await dashboard();
      const expressions = [
        ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
        ...templating.list.map(({ definition = '' }) => definition),
        ...annotations.list.map(({ expr }) => expr),
        ...(await alerts()).map(({ expr }) => expr),
      ];
      const unknown = expressions.flatMap(metricsIn).filter((name) => !declared().has(name));
      expect([...new Set(unknown)]).to.deep.equal([]);
    });

    it('has a dashboard whose panels have titles, and queries that know its variables', async () => {
      const { panels, templating } = await dashboard();
      const names = new Set(templating.list.map(({ name }) => name));
      for (const { title, targets = [] } of panels) {
        expect(title).not.to.equal('');
        for (const { expr } of targets)
          for (const [, name] of expr.matchAll(/\$(\w+)/g))
            if (name !== '__rate_interval') expect(names, `${title}: ${expr}`).to.include(name);
      }
    });

    it('are told of in config/monitoring.md, each with what it counts', async () => {
      const guide = await readFile('config/monitoring.md', 'utf8');
      const told = Array.from(
        guide.matchAll(/^\| `(gw2api_\w+)(?:\{([\w,]*)\})?` \|/gm),
        ([, name, labels = '']) => [name!, labels],
      );
      const own = [...declared()].filter((name) => name.startsWith('gw2api_'));
      expect(told.map(([name]) => name)).to.have.members(own);
      for (const [name, labels] of told)
        for (const line of text.match(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{.*$`, 'gm')) ?? []) {
          const found = Array.from(line.matchAll(/(\w+)="/g), ([, label]) => label!);
          expect(
            found.filter((label) => label !== 'le'),
            line,
          ).to.have.members(labels!.match(/\w+/g) ?? []);
        }
    });

    it('passes promtool check metrics', async function () {
      if (!process.env['GW_TEST_PROMTOOL']) this.skip();
      expect(promtool(['check', 'metrics'], text)).to.deep.equal({ code: 0, text: '' });
    });
  });

  describe('by promtool', () => {
    before(function () {
      if (!process.env['GW_TEST_PROMTOOL']) this.skip();
    });

    it('has valid alert rules', () => {
      const { code, text } = promtool(['check', 'rules', `${folder}/alerts.yml`]);
      expect(code, text).to.equal(0);
    });

    it('has rules that do as their tests say', () => {
      const { code, text } = promtool(['test', 'rules', `${folder}/alerts.test.yml`]);
      expect(code, text).to.equal(0);
    });

    it('has a valid config of Prometheus', () => {
      const { code, text } = promtool(['check', 'config', '--syntax-only', `${folder}/prometheus.yml`]);
      expect(code, text).to.equal(0);
    });
  });
});

/** Panels whose queries may find nothing in a healthy gateway with this traffic, and why. */
const mayBeEmpty: ReadonlyMap<string, string> = new Map([
  ['Tokens that caches have lost, by cause', 'no session loses its cache'],
  ['Rate-limited requests', 'no request is refused by a limit'],
]);

describe('a real Prometheus that scrapes two gateways', () => {
  const observed = new Observed();
  let prometheus: Prometheus | undefined;
  before(async function () {
    if (!process.env['GW_TEST_PROMETHEUS']) this.skip();
    this.timeout(60_000);
    await observed.start();
    const hosts = observed.gateways.map(({ url }) => new URL(url).host);
    prometheus = await startPrometheus(hosts, masterKey);
    await observed.traffic();
    const each = observed.gateways.length * requests.length;
    await eventually(async () => (await scraped()) === each, 30_000);
    await observed.traffic();
    await eventually(async () => (await scraped()) === 2 * each, 30_000);
  });
  after(async () => {
    await prometheus?.close();
    await observed.close();
  });

  /** Model calls that Prometheus knows of. */
  async function scraped(): Promise<number | undefined> {
    const [sum] = await prometheus!.query('sum(gw2api_requests_total{operation="generate"})');
    return sum?.value;
  }

  it('finds them up', async () => {
    expect((await prometheus!.targets()).map(({ health, lastError }) => [health, lastError])).to.deep.equal([
      ['up', ''],
      ['up', ''],
    ]);
  });

  it('has values for every query of the dashboard', async () => {
    const { panels } = await dashboard();
    const empty: string[] = [];
    const table: string[] = [];
    for (const { title, targets = [] } of panels)
      for (const { expr } of targets) {
        const found = await prometheus!.query(filledIn(expr));
        const isThere = found.some(({ value }) => !Number.isNaN(value));
        table.push(`${title} | ${expr} | ${found.map(({ value }) => value.toPrecision(3)).join(' ')}`);
        if (!isThere && !mayBeEmpty.has(title)) empty.push(`${title}: ${expr}`);
      }
    if (process.env['GW_TEST_TABLE']) process.stdout.write(`${table.join('\n')}\n`);
    expect(empty).to.deep.equal([]);
  });

  it('has loaded the alerts and evaluates them without an error', async () => {
    await eventually(async () => (await prometheus!.rules()).every(({ health }) => health === 'ok'));
    const names = (await prometheus!.rules()).map(({ name }) => name);
    expect(names).to.have.members((await alerts()).map(({ alert }) => alert));
  });
});
