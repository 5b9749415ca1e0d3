import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';

/** Rooms of src from the top down, each with the rooms that it imports. Imports run down this list only. */
const rooms: Readonly<Record<string, string>> = {
  'server.ts': 'cli',
  'index.ts': 'gateway config plugin',
  build: '',
  cli: 'features gateway engine config state plugin kit',
  features: 'console operator gateway engine config state plugin kit',
  console: 'operator plugin',
  operator: 'gateway engine config state plugin kit',
  testing: 'engine state plugin kit',
  gateway: 'engine config state plugin kit',
  engine: 'config state plugin kit',
  config: 'state plugin kit',
  state: 'plugin kit',
  plugin: 'kit',
  kit: '',
};

/** Rooms within `engine` and `features`, each with those beside it that it imports; the others import none. */
const inside: Readonly<Record<string, string>> = {
  'engine/http': 'engine/masking engine/trace',
  'engine/pipeline': 'engine/trace',
  'engine/slots': 'engine/masking engine/models engine/transport',
  'features/audit': 'features/slots',
  'features/cache-ledger': 'features/requests',
  'features/explain': 'features/dry-run features/pipeline features/slots',
  'features/keys': 'features/slots',
  'features/login': 'features/slots',
  'features/openapi': 'features/keys features/pipeline features/slots',
  'features/pipeline': 'features/canary features/explain features/slots',
  'features/playground': 'features/explain features/slots',
  'features/replay': 'features/dry-run',
  'features/requests': 'features/keys features/slots',
  'features/slots':
    'features/canary features/explain features/keys features/login features/metrics features/openapi features/pipeline features/playground features/requests',
  'features/tests': 'features/dry-run',
  'features/tokens': 'features/slots',
  'features/usage': 'features/keys features/slots',
};

/** Imports that still run up, from one file to another. Only ever fewer. */
const climbing: readonly string[] = [
  'console/web/api/types.ts -> features/audit/audit-report.ts',
  'console/web/api/types.ts -> features/canary/canary-report.ts',
  'console/web/api/types.ts -> features/explain/explanation.ts',
  'console/web/api/types.ts -> features/keys/key-report.ts',
  'console/web/api/types.ts -> features/keys/team-report.ts',
  'console/web/api/types.ts -> features/login/oidc-routes.ts',
  'console/web/api/types.ts -> features/login/session-list.ts',
  'console/web/api/types.ts -> features/login/session-routes.ts',
  'console/web/api/types.ts -> features/pipeline/panel.ts',
  'console/web/api/types.ts -> features/pipeline/reload-panel.ts',
  'console/web/api/types.ts -> features/playground/playground-run.ts',
  'console/web/api/types.ts -> features/slots/report.ts',
  'console/web/api/types.ts -> features/slots/slot-history-report.ts',
  'console/web/api/types.ts -> features/slots/slot-kinds.ts',
  'console/web/api/types.ts -> features/slots/slot-report.ts',
  'console/web/api/types.ts -> features/tokens/admin-tokens.ts',
  'console/web/api/types.ts -> features/usage/usage.ts',
  'console/web/app.tsx -> features/audit/page/audit-page.tsx',
  'console/web/app.tsx -> features/cache-ledger/page/cache-page.tsx',
  'console/web/app.tsx -> features/connect/page/connect-page.tsx',
  'console/web/app.tsx -> features/explain/page/explain-page.tsx',
  'console/web/app.tsx -> features/keys/page/keys-page.tsx',
  'console/web/app.tsx -> features/keys/page/own-page.tsx',
  'console/web/app.tsx -> features/keys/page/teams-page.tsx',
  'console/web/app.tsx -> features/login/page/login-page.tsx',
  'console/web/app.tsx -> features/login/page/sessions-page.tsx',
  'console/web/app.tsx -> features/pipeline/page/pipeline-page.tsx',
  'console/web/app.tsx -> features/playground/page/playground-page.tsx',
  'console/web/app.tsx -> features/requests/page/opened-request-page.tsx',
  'console/web/app.tsx -> features/requests/page/requests-page.tsx',
  'console/web/app.tsx -> features/slots/page/slots-page.tsx',
  'console/web/app.tsx -> features/tokens/page/tokens-page.tsx',
  'console/web/app.tsx -> features/usage/page/overview-page.tsx',
  'engine/http/listener.ts -> features/websockets/refused-upgrades.ts',
  'engine/http/listener.ts -> features/websockets/upgrades.ts',
  'engine/http/routes.ts -> features/websockets/open-sockets.ts',
  'gateway/app.ts -> console/page.ts',
  'gateway/app.ts -> operator/admin.ts',
  'gateway/app.ts -> operator/audited-stage-route.ts',
  'gateway/app.ts -> operator/panel.ts',
  'gateway/caller-keys.ts -> operator/access/admin-tokens.ts',
  'gateway/gateway.ts -> features/canary/canary-reload.ts',
  'gateway/gateway.ts -> features/canary/local-canary.ts',
  'gateway/gateway.ts -> features/explain/explanations.ts',
  'gateway/gateway.ts -> features/metrics/gauges.ts',
  'gateway/gateway.ts -> features/requests/request-feed.ts',
  'gateway/gateway.ts -> features/websockets/web-sockets.ts',
  'gateway/options.ts -> features/tests/before-reload.ts',
  'gateway/reload/current-config.ts -> features/canary/canary-report.ts',
  'gateway/reload/next-config-tests.ts -> features/tests/before-reload.ts',
  'gateway/reload/prepared.ts -> features/canary/canary-report.ts',
  'gateway/services.ts -> features/cache-ledger/index.ts',
  'gateway/services.ts -> features/opentelemetry/open-tracing.ts',
  'gateway/services.ts -> features/opentelemetry/request-tracing.ts',
  'gateway/services.ts -> features/slots/history/forecasts.ts',
  'gateway/services.ts -> features/slots/history/slot-watch.ts',
  'gateway/services.ts -> operator/audit/audit.ts',
  'gateway/settle/request-log.ts -> features/metrics/request-metrics.ts',
  'gateway/settle/settle.ts -> features/cache-ledger/cache-losses.ts',
  'gateway/settle/settle.ts -> features/metrics/cost-counter.ts',
  'gateway/settle/settle.ts -> features/metrics/request-metrics.ts',
  'gateway/settle/settle.ts -> features/requests/kept-error-texts.ts',
  'gateway/settle/settle.ts -> features/requests/request-feed.ts',
  'operator/access/sessions.ts -> features/slots/panel-slots.ts',
  'operator/admin-route.ts -> features/pipeline/operations.ts',
  'operator/admin-routes.ts -> features/pipeline/admin.ts',
  'operator/admin-routes.ts -> features/pipeline/operations.ts',
  'operator/admin.ts -> features/pipeline/admin-operations.ts',
  'operator/ledger-query.ts -> features/slots/panel-slots.ts',
  'operator/panel-routes.ts -> features/audit/audit.ts',
  'operator/panel-routes.ts -> features/explain/panel.ts',
  'operator/panel-routes.ts -> features/keys/keys.ts',
  'operator/panel-routes.ts -> features/keys/teams.ts',
  'operator/panel-routes.ts -> features/login/oidc-login.ts',
  'operator/panel-routes.ts -> features/login/oidc-routes.ts',
  'operator/panel-routes.ts -> features/login/session-list.ts',
  'operator/panel-routes.ts -> features/login/session-routes.ts',
  'operator/panel-routes.ts -> features/pipeline/panel.ts',
  'operator/panel-routes.ts -> features/pipeline/reload-panel.ts',
  'operator/panel-routes.ts -> features/playground/panel.ts',
  'operator/panel-routes.ts -> features/requests/requests.ts',
  'operator/panel-routes.ts -> features/slots/panel-slots.ts',
  'operator/panel-routes.ts -> features/slots/slot-kinds.ts',
  'operator/panel-routes.ts -> features/slots/slots.ts',
  'operator/panel-routes.ts -> features/tokens/admin-tokens.ts',
  'operator/panel-routes.ts -> features/usage/usage.ts',
  'operator/panel.ts -> features/openapi/document.ts',
  'operator/panel.ts -> features/slots/all-slots.ts',
  'operator/status.ts -> features/slots/panel-slots.ts',
];

/** Files that may do nothing but hand on names: the doors, and what a feature is. */
const doors =
  /^(?:index|plugin\/(?:(?:format|upstream|raw)\/)?(?:index|core)|testing\/index|features\/[^/]+\/index)\.ts$/;

describe('the house', () => {
  const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => /\.tsx?$/.test(file));
  const arrows = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
  const isClimb = ({ from, to }: Arrow) => order(from) > order(to);
  const downwards = arrows.filter((arrow) => !isClimb(arrow));

  it('has a room for each file', () => {
    expect(files.filter((file) => order(file) < 0)).to.deep.equal([]);
  });

  it('has these arrows between its rooms, all of them used, and none that runs up', () => {
    expect(linksOf(downwards, roomOf)).to.deep.equal(listed(rooms));
    const climbs = arrows.filter(isClimb).map(({ from, to }) => `${from} -> ${to}`);
    expect([...new Set(climbs)]).to.have.members(climbing);
  });

  it('has these arrows within engine and features', () => {
    const within = downwards.filter(
      ({ from, to }) => roomOf(from) === roomOf(to) && /^(?:engine|features)\//.test(from),
    );
    expect(linksOf(within, innerRoomOf)).to.deep.equal(listed(inside));
  });

  it('has no circle of files', () => {
    const left = new Map(files.map((file) => [file, importsOf(file)]));
    const isEnd = ([, to]: readonly [string, readonly string[]]) => !to.some((file) => left.has(file));
    for (let ends = [...left].filter(isEnd); ends.length > 0; ends = [...left].filter(isEnd))
      for (const [file] of ends) left.delete(file);
    expect([...left.keys()]).to.deep.equal([]);
  });

  it('has no file that only hands on names, but for its doors', () => {
    const handing = files.filter((file) =>
      /^(?:\s*(?:\/\*[\s\S]*?\*\/|\/\/.*|export (?:type )?(?:\*|\{[^}]*\}) from '[^']*';))+\s*$/.test(
        textOf(file),
      ),
    );
    expect(handing.filter((file) => !doors.test(file))).to.deep.equal([]);
  });

  it('enters plugin by its doors, whose fifth has at most a hundred names', () => {
    const entering = arrows.filter(({ from, to }) => /^plugin\//.test(to) && !/^plugin\//.test(from));
    expect(entering.filter(({ to }) => !doors.test(to))).to.deep.equal([]);
    const names = [...textOf('plugin/core.ts').matchAll(/\{([^}]*)\}/g)].flatMap(([, list = '']) =>
      list.split(',').filter((name) => name.trim()),
    );
    expect(names.length).to.be.at.most(100);
  });
});

interface Arrow {
  readonly from: string;
  readonly to: string;
}

function textOf(file: string): string {
  return readFileSync(path.join('src', file), 'utf8');
}

/** Files of src that a file imports: types and `import()` count. */
function importsOf(file: string): readonly string[] {
  const found = textOf(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)'/g);
  return [...found].flatMap(([, specifier = '']) => {
    const stem = path.join(path.dirname(file), specifier).replace(/\.js$/, '');
    return [`${stem}.ts`, `${stem}.tsx`].filter((name) =>
      statSync(path.join('src', name), { throwIfNoEntry: false }),
    );
  });
}

function roomOf(file: string): string {
  return file.split('/')[0] ?? '';
}

function innerRoomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

function order(file: string): number {
  return Object.keys(rooms).indexOf(roomOf(file));
}

function linksOf(arrows: readonly Arrow[], room: (file: string) => string): readonly string[] {
  const links = arrows
    .map(({ from, to }) => [room(from), room(to)] as const)
    .filter(([from, to]) => from !== to);
  return [...new Set(links.map(([from, to]) => `${from} -> ${to}`))].toSorted();
}

function listed(table: Readonly<Record<string, string>>): readonly string[] {
  const links = Object.entries(table).flatMap(([from, to]) =>
    to
      .split(' ')
      .filter(Boolean)
      .map((room) => `${from} -> ${room}`),
  );
  return links.toSorted();
}
