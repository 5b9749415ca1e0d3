import { access, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { durationMs } from '@gw2api/gateway/plugin';
import { loadGatewayConfigFile } from '#src/gateway/load-config.js';

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        environment?: Readonly<Record<string, string>>;
        volumes?: readonly string[];
        profiles?: readonly string[];
        ports?: readonly string[];
        secrets?: readonly string[];
        stop_grace_period?: string;
        env_file?: readonly { readonly path: string }[];
        read_only?: boolean;
        cap_drop?: readonly string[];
        security_opt?: readonly string[];
      }
    >
  >;
  readonly volumes: object;
  readonly secrets: object;
  readonly configs: Readonly<Record<string, { content: string }>>;
}

describe('compose.yaml', () => {
  let compose: Compose;
  before(async () => {
    const text = (await readFile('compose.yaml', 'utf8')).replace(
      /(?<!\$)\$\{\w+[^}]*\}/g,
      'of-the-environment',
    );
    compose = parse(text, { merge: true }) as Compose; // of the shape that it has
  });

  it('has two gateways on the same PostgreSQL and the same Redis, by the config that ships', async () => {
    const [one, two] = ['gateway-1', 'gateway-2'].map((name) => compose.services[name]!.environment!);
    expect(one).to.deep.equal(two);
    const { store, live, listen } = await loadGatewayConfigFile('config/gateway.yaml', one!);
    expect(store).to.include({ kind: 'postgres' });
    expect(live).to.include({ kind: 'redis', label: 'redis:6379' });
    expect(listen).to.include({ trustProxy: 1, port: 8787 });
  });

  it('gives the gateways all of .env, for the keys of the slots, and no rights', () => {
    const { env_file, ...gateway } = compose.services['gateway-1']!;
    expect(env_file?.map(({ path }) => path)).to.deep.equal(['.env']);
    expect(gateway).to.deep.include({ read_only: true, cap_drop: ['ALL'] });
    for (const [name, { security_opt }] of Object.entries(compose.services))
      expect(security_opt, name).to.deep.equal(['no-new-privileges:true']);
  });

  it('opens the API to the world, and all else to the machine alone', () => {
    const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).to.deep.equal(['8080:8080']);
  });

  it('names no service and no volume that it does not have', () => {
    const volumes = Object.values(compose.services).flatMap((service) => service.volumes ?? []);
    const named = volumes.map((volume) => volume.split(':')[0]!).filter((name) => !name.startsWith('.'));
    expect(Object.keys(compose.volumes)).to.have.members([...new Set(named)]);
    const servers = [...compose.configs['nginx']!.content.matchAll(/server ([\w-]+):8787/g)];
    expect(servers.map(([, name]) => name)).to.deep.equal(['gateway-1', 'gateway-2']);
  });

  it('keeps connections between nginx and a gateway for less than the drain delay, which a stop waits for', async () => {
    const { environment, stop_grace_period } = compose.services['gateway-1']!;
    const { listen } = await loadGatewayConfigFile('config/gateway.yaml', environment!);
    const { content } = compose.configs['nginx']!;
    const [, kept = ''] = /upstream [^}]*keepalive_timeout (\w+);/.exec(content) ?? [];
    expect(durationMs(kept)).to.be.below(listen.drainDelayMs);
    const longestMs = 2 * listen.drainDelayMs + listen.shutdownTimeoutMs;
    expect(durationMs(stop_grace_period!)).to.be.above(longestMs);
    expect(content).not.to.include('non_idempotent'); // it would send a paid request twice
  });

  it('has Prometheus and Grafana in a profile of their own, over the files of config/observability', async () => {
    for (const name of ['prometheus', 'grafana']) {
      const { profiles, volumes = [], ports = [] } = compose.services[name]!;
      expect(profiles).to.deep.equal(['observability']);
      expect(ports.every((port) => port.startsWith('127.0.0.1:'))).to.equal(true);
      for (const volume of volumes.filter((each) => each.startsWith('.')))
        await access(volume.split(':')[0]!);
    }
    const config = parse(await readFile('config/observability/prometheus.yml', 'utf8')) as {
      scrape_configs: {
        authorization: { credentials_file: string };
        static_configs: { targets: string[] }[];
      }[];
    };
    const {
      authorization,
      static_configs: [scraped],
    } = config.scrape_configs[0]!;
    expect(scraped!.targets).to.deep.equal(['gateway-1:8787', 'gateway-2:8787']);
    const { secrets = [] } = compose.services['prometheus']!;
    expect(authorization.credentials_file).to.equal(`/run/secrets/${secrets[0]}`);
    expect(compose.secrets).to.have.property(secrets[0]!);
    expect(JSON.stringify(compose.secrets)).not.to.include('GW2API_API_KEY');
    expect(JSON.stringify(compose.services['grafana'])).not.to.include(':-admin');
    const provider = await readFile(
      'config/observability/grafana/provisioning/dashboards/gw2api.yml',
      'utf8',
    );
    const mounts = compose.services['grafana']!.volumes!.map((volume) => volume.split(':')[1]);
    expect(mounts).to.include(/path: (\S+)/.exec(provider)![1]);
  });

  it('keeps back neither events nor bodies', () => {
    const { content } = compose.configs['nginx']!;
    for (const line of ['proxy_buffering off;', 'proxy_request_buffering off;', 'client_max_body_size 0;'])
      expect(content).to.include(line);
    expect(content.match(/(?<!\$)\$(?!\$)/g)).to.equal(null); // Compose would take it for a variable of its own
  });
});
