import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { durationMs, sizeBytes } from '@gw2api/gateway/plugin';
import { refusedConfigCode } from '#src/gateway/start-failure.js';
import { loadGatewayConfig, loadGatewayConfigFile } from '#src/gateway/load-config.js';
import { TempFolders, writeIn } from './whole/temp-folders.js';

/** A manifest, of whose fields the tests read some; the types of Kubernetes are held to it apart. */
// oxlint-disable-next-line typescript/no-explicit-any
type Manifest = any;

/** Modules of kubernetes-types by the API versions of manifests. */
const modules: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'networking.k8s.io/v1': 'networking/v1',
  'policy/v1': 'policy/v1',
};

describe('config/kubernetes', () => {
  const manifests = new Map<string, Manifest>();
  before(async () => {
    for (const file of ['gateway.yaml', 'secret.yaml', 'routes.yaml'])
      for (const document of parseAllDocuments(await readFile(`config/kubernetes/${file}`, 'utf8'))) {
        const manifest: Manifest = document.toJS();
        manifests.set(manifest.kind, manifest);
      }
  });
  const podOf = (): Manifest => manifests.get('StatefulSet').spec.template.spec;

  it('has manifests of the types that Kubernetes has', async function () {
    this.timeout(60_000);
    const typed = [...manifests.values()].filter(({ kind }) => kind !== 'HTTPRoute'); // an extension's
    const lines = typed.map(
      (manifest, at) =>
        `import type { ${manifest.kind} as Kind${at} } from 'kubernetes-types/${modules[manifest.apiVersion]}';\nexport const manifest${at}: Kind${at} = ${JSON.stringify(manifest)};\n`,
    );
    expect(await typeErrors(lines.join(''))).to.equal('');
    const wrong = lines.join('').replace('"containerPort"', '"containerPorts"');
    expect(await typeErrors(wrong)).to.include('containerPorts');
  });

  it('has a config that loads, with the variables of the Secret', async () => {
    const env = manifests.get('Secret').stringData as Record<string, string>;
    const written = manifests.get('ConfigMap').data['gateway.yaml'] as string;
    const text = written.replace('/app/config', path.resolve('config')); // of the image
    const config = await loadGatewayConfig({ text, file: 'gateway.yaml', env });
    expect(config.store.kind).to.equal('postgres');
    expect(config.live.kind).to.equal('redis');
    const { terminationGracePeriodSeconds, containers } = podOf();
    const [{ lifecycle }] = containers;
    const drainMs = 2 * config.listen.drainDelayMs + config.listen.shutdownTimeoutMs;
    const preStopMs = Number(lifecycle.preStop.exec.command[1]) * 1000;
    expect(terminationGracePeriodSeconds * 1000).to.be.above(preStopMs + drainMs);
  });

  it('selects the pods that it makes, and keeps one of them', () => {
    const { selector, template, replicas, serviceName } = manifests.get('StatefulSet').spec;
    expect(serviceName).to.equal(manifests.get('Service').metadata.name);
    expect(template.metadata.labels).to.deep.equal(selector.matchLabels);
    expect(manifests.get('Service').spec.selector).to.deep.equal(selector.matchLabels);
    const budget = manifests.get('PodDisruptionBudget').spec;
    expect(budget.selector).to.deep.equal(selector);
    expect(budget.minAvailable).to.be.below(replicas);
  });

  it('asks the paths that say what they mean, and runs without rights', () => {
    const [container] = podOf().containers;
    expect(container.livenessProbe.httpGet.path).to.equal('/health');
    expect(container.readinessProbe.httpGet.path).to.equal('/health?ready=1');
    expect(container.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(podOf().securityContext.runAsNonRoot).to.equal(true);
    const mounted = container.volumeMounts.map(({ name }: Manifest) => name);
    const claims = manifests.get('StatefulSet').spec.volumeClaimTemplates;
    const volumes = [...podOf().volumes, ...claims.map(({ metadata }: Manifest) => metadata)];
    expect(volumes.map(({ name }: Manifest) => name)).to.have.members(mounted);
  });

  it('keeps rows that wait for the store when a pod is replaced', () => {
    const [{ metadata, spec }] = manifests.get('StatefulSet').spec.volumeClaimTemplates;
    const [container] = podOf().containers;
    const { mountPath } = container.volumeMounts.find(({ name }: Manifest) => name === metadata.name);
    expect(mountPath).to.equal('/app/data');
    expect(spec.accessModes).to.deep.equal(['ReadWriteOnce']);
  });

  it('has memory for two bodies of the largest size', async () => {
    const env = manifests.get('Secret').stringData as Record<string, string>;
    const text = (manifests.get('ConfigMap').data['gateway.yaml'] as string).replace(
      '/app/config',
      path.resolve('config'),
    );
    const { pipeline } = await loadGatewayConfig({ text, file: 'gateway.yaml', env });
    const { limit } = pipeline.find(({ use }) => use === 'body-limit')!.with as { limit: string };
    const [, gigabytes] = /^(\d+)Gi$/.exec(podOf().containers[0].resources.limits.memory)!;
    expect(Number(gigabytes) * 2 ** 30).to.be.at.least(2 * 8 * sizeBytes(limit));
  });

  it('leads callers to the API alone, by both kinds of routes', () => {
    const { spec: ingress } = manifests.get('Ingress');
    const { spec: route } = manifests.get('HTTPRoute');
    const paths = ingress.rules[0].http.paths.map(({ path: each }: Manifest) => each);
    expect(paths).to.deep.equal(['/v1', '/health']);
    expect(route.rules[0].matches.map(({ path: each }: Manifest) => each.value)).to.deep.equal(paths);
    const [port] = manifests.get('Service').spec.ports;
    expect(route.rules[0].backendRefs).to.deep.equal([{ name: 'gw2api', port: port.port }]);
    expect(ingress.rules[0].http.paths[0].backend.service.port.name).to.equal(port.name);
  });
});

describe('config/deploy', () => {
  it('has a unit that waits for the drain, and reloads by SIGHUP', async () => {
    const unit = await readFile('config/deploy/gw2api.service', 'utf8');
    const { listen } = await loadGatewayConfigFile('config/gateway.yaml', {});
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit)!;
    expect(Number(seconds) * 1000).to.be.above(2 * listen.drainDelayMs + listen.shutdownTimeoutMs);
    expect(unit).to.match(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
    expect(unit).to.match(/^KillMode=mixed$/m);
  });

  it('has a unit that tries again for ever, but for a config that is refused', async () => {
    const unit = await readFile('config/deploy/gw2api.service', 'utf8');
    for (const line of [
      /^After=.*\bpostgresql\.service\b/m,
      /^StartLimitIntervalSec=0$/m,
      /^Restart=on-failure$/m,
      /^RestartSec=5$/m,
    ])
      expect(unit).to.match(line);
    expect(unit).to.include(`\nRestartPreventExitStatus=${refusedConfigCode}\n`);
  });

  it('has a unit that systemd takes', async function () {
    if (!existsSync('/usr/bin/systemd-analyze')) return this.skip();
    const folders = new TempFolders();
    const unit = await readFile('config/deploy/gw2api.service', 'utf8');
    const folder = await folders.make({ 'gw2api.service': unit.replace('/usr/bin/node', process.execPath) });
    const output = await outputOf('/usr/bin/systemd-analyze', [
      'verify',
      '--man=no',
      '--recursive-errors=no',
      `${folder}/gw2api.service`,
    ]);
    await folders.remove();
    expect(output.split('\n').filter((line) => line.includes('gw2api.service'))).to.deep.equal([]);
  });

  it('says that its Traefik example is untested', async () => {
    const text = await readFile('config/deploy/traefik.yaml', 'utf8');
    expect(text).to.include('UNTESTED');
    const { http }: Manifest = parse(text);
    expect(http.routers.gateway.service).to.equal(Object.keys(http.services)[0]);
  });

  it('keeps proxies’ connections for less than a drain delay of 5 s', async () => {
    const [nginx, caddy] = await Promise.all(
      ['nginx.conf', 'Caddyfile'].map((file) => readFile(`config/deploy/${file}`, 'utf8')),
    );
    expect(durationMs(/keepalive_timeout (\w+);/.exec(nginx!)![1]!)).to.be.below(5000);
    expect(durationMs(/keepalive (\w+)$/m.exec(caddy!)![1]!)).to.be.below(5000);
  });
});

/** What the type checker says of a program; empty: nothing. */
async function typeErrors(program: string): Promise<string> {
  const folders = new TempFolders();
  const folder = await folders.make();
  await writeIn(folder, 'manifests.ts', program);
  const types = path.resolve('node_modules/kubernetes-types');
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'preserve',
    types: [],
    paths: { 'kubernetes-types/*': [`${types}/*.d.ts`] },
  };
  await writeIn(folder, 'tsconfig.json', { compilerOptions, files: ['manifests.ts'] });
  const output = await outputOf(process.execPath, [
    path.resolve('node_modules/typescript/bin/tsc'),
    '-p',
    folder,
  ]);
  await folders.remove();
  return output;
}

async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return output;
}
