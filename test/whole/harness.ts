import { createParser } from 'eventsource-parser';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { createGateway, type CreateGatewayOptions, type Gateway } from '@gw2api/gateway';
import type { Logger } from '@gw2api/gateway/plugin';
import {
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '#plugins/upstreams/simulator/server.js';
import { clockAt } from '../clock-at.js';

/** The master key of every gateway under test. */
export const masterKey = 'test-master-key';

export interface GatewayUnderTest {
  /** Without a trailing slash. */
  readonly url: string;
  readonly gateway: Gateway;
  /** What the gateway logged, one object a line. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  /** Posts JSON with the master key unless `headers` has another. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

/** The default pipeline, as `config/gateway.yaml` has it. */
export const defaultStages = [
  'auth',
  'body-limit',
  'format-decode',
  'rate-limit',
  'persona-inject',
  'web-search-tool',
  'tool-choice',
  'max-tokens',
  'cache-ttl',
  'slot-pick',
  'upstream-call',
  'usage-mask',
  'format-encode',
] as const;

export interface StageOverrides {
  /** Options by stage name. */
  readonly with?: Readonly<Record<string, object>>;
  /** Stages that are left out. */
  readonly without?: readonly string[];
}

/** A pipeline entry for each default stage. */
export function stages({ with: options = {}, without = [] }: StageOverrides = {}): readonly object[] {
  const kept = defaultStages.filter((name) => !without.includes(name));
  return kept.map((name) => (options[name] ? { use: name, with: options[name] } : { use: name }));
}

/** A slot over a simulator (or any other Messages upstream) at `url`. */
export function slotAt(url: string, settings: object = {}): object {
  return {
    id: 'a',
    upstream: 'messages',
    baseUrl: url,
    account: { kind: 'api-key', key: 'upstream-key-a' },
    ...settings,
  };
}

/** The catalog that ships. */
export const shippedCatalog = resolve('config/models.yaml');

/** A catalog with the models of the one that ships, each under one name. */
const plainCatalog = resolve('test/support/models.yaml');

/** A whole config: the default pipeline on a free port, a catalog of plain names, and what `config` says. */
export function configOf(config: Readonly<Record<string, unknown>>): object {
  return {
    listen: { host: '127.0.0.1', port: 0 },
    pipeline: stages(),
    store: 'memory',
    models: plainCatalog,
    ...config,
  };
}

/** Starts a gateway on a free port; `config` overrides the defaults key by key, or is the path of a whole config. */
export async function startGateway(
  config: Readonly<Record<string, unknown>> | string,
  env: Readonly<Record<string, string>> = {},
  now: () => number = Date.now,
  options: CreateGatewayOptions = {},
): Promise<GatewayUnderTest> {
  const logged: Record<string, unknown>[] = [];
  const gateway = await createGateway(typeof config === 'string' ? config : configOf(config), {
    masterKey,
    env,
    log: recorder(logged),
    baseDir: tmpdir(),
    clock: clockAt(now),
    ...options,
  });
  const url = await gateway.listen();
  const withKey = (headers: Readonly<Record<string, string>>) =>
    'x-api-key' in headers || 'authorization' in headers ? headers : { 'x-api-key': masterKey, ...headers };
  return {
    url,
    gateway,
    logged,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...withKey(headers) },
        body: JSON.stringify(body),
      }),
    get: (path, headers = {}) => fetch(url + path, { headers: withKey(headers) }),
    close: () => gateway.close(),
  };
}

export interface Pair extends GatewayUnderTest {
  readonly simulator: Simulator;
}

/** A gateway over a simulator of its own, with one slot unless `slots` says more. `close` ends both. */
export async function startPair(
  config: Readonly<Record<string, unknown>> = {},
  simulatorOptions: SimulatorOptions = {},
  slots: (url: string) => readonly object[] = (url) => [slotAt(url)],
  options: CreateGatewayOptions = {},
): Promise<Pair> {
  const simulator = await startSimulator(simulatorOptions);
  const { clock } = simulatorOptions;
  const under = await startGateway({ slots: slots(simulator.url), ...config }, {}, clock?.now, options).catch(
    async (error: unknown) => {
      await simulator.close(); // or the test run would never end
      throw error;
    },
  );
  const close = async () => {
    await under.close();
    await simulator.close();
  };
  return { ...under, simulator, close };
}

/** A Messages request with one user message. */
export function ask(text: string, fields: object = {}): object {
  return { model: 'sonnet-5', max_tokens: 1000, messages: [{ role: 'user', content: text }], ...fields };
}

/** The data of each server-sent event, parsed; `[DONE]` stays text. */
export function eventsIn(text: string): readonly unknown[] {
  const events: unknown[] = [];
  const parser = createParser({
    onEvent: ({ data }) => events.push(data === '[DONE]' ? data : JSON.parse(data)),
  });
  parser.feed(text);
  return events;
}

function recorder(lines: Record<string, unknown>[], bound: object = {}): Logger {
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push({ ...bound, level, ...fields, msg: message });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => recorder(lines, { ...bound, ...fields }),
  };
}
