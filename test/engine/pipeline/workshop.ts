import { OpenCalls } from '#src/engine/pipeline/call/open-calls.js';
import { EventHub } from '#src/engine/pipeline/stage/event-hub.js';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ConfigError, formatProblem, type Config } from '#src/config/config.js';
import { loadConfig } from '#src/config/load.js';
import { createCipher } from '#src/state/store/credential-cipher.js';
import { Pipeline, type BuildOptions } from '#src/engine/pipeline/run/pipeline.js';
import { KeptState } from '#src/engine/pipeline/stage/kept-state.js';
import type { HostServices } from '#src/engine/pipeline/run/stage-host.js';
import type { Host, Logger } from '@gw2api/gateway/plugin';
import { fakeModels, MemoryStore } from '@gw2api/gateway/testing';
import { clockAt } from '../../clock-at.js';

/** A folder with a config, plugins and built-ins of its own, outside of the package. */
export class Workshop {
  readonly dir: string;
  readonly builtins: string;
  /** What plugins have logged, `error: …` and so on. */
  readonly logged: string[] = [];

  private constructor(dir: string) {
    this.dir = dir;
    this.builtins = path.join(dir, 'builtins');
  }

  /** Its built-ins have the names and keys of the gateway's own, and do nothing. */
  static async open(): Promise<Workshop> {
    const workshop = new Workshop(await mkdtemp(path.join(os.tmpdir(), 'gw2api-')));
    await workshop.write('builtins/package.json', '{"type":"module"}');
    for (const [name, keys] of Object.entries(builtinKeys))
      await workshop.write(`builtins/${name}.js`, moduleText({ name, ...keys }));
    return workshop;
  }

  async write(file: string, text: string): Promise<void> {
    const target = path.join(this.dir, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }

  close(): Promise<void> {
    return rm(this.dir, { recursive: true });
  }

  /** `text`: the config from `pipeline:` on, in a file that lies in this folder. */
  config(text: string): Config {
    const whole = `${text}\nslots: [{ id: a, upstream: simulator }]\n`;
    return loadConfig({ text: whole, file: 'gateway.yaml', env: {}, baseDir: this.dir });
  }

  build(text: string, services: Partial<HostServices> = {}, options: BuildOptions = {}): Promise<Pipeline> {
    return Pipeline.build(this.config(text), fakeServices(this.logged, services), {
      builtins: this.builtins,
      ...options,
    });
  }

  /** All that is said about a pipeline that cannot be built, a line each; paths of this folder are left out. */
  async problems(text: string, options: BuildOptions = {}): Promise<readonly string[]> {
    try {
      await this.build(text, {}, options);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map((problem) => formatProblem(problem).replaceAll(`${this.dir}/`, ''));
    }
  }
}

interface Keys {
  readonly requires?: readonly string[];
  readonly provides?: readonly string[];
  readonly seals?: readonly string[];
  readonly intercepts?: boolean;
  readonly operations?: readonly string[];
  readonly options?: object;
  readonly keepsPrefix?: false;
}

/** A module whose default is a plugin of these keys; its stage writes its name into `ctx.state.trail` and goes on. */
export function moduleText(keys: Keys & { readonly name: string }, setup = ''): string {
  return `export default { ...${JSON.stringify(keys)}, setup(options, host) { ${setup}
    return async (ctx, next) => { ctx.state.trail?.push(${JSON.stringify(keys.name)}); await next(); };
  } };`;
}

const keyed = ['generate', 'count-tokens', 'models', 'usage', 'route'];
const counted = ['generate', 'count-tokens'];
const replacesRequest = { requires: ['request'], provides: ['request'] };

/** Keys and operations of the built-in stages. */
const builtinKeys: Readonly<Record<string, Keys>> = {
  auth: { provides: ['caller'], operations: keyed },
  'body-limit': { provides: ['body'], operations: counted },
  'format-decode': {
    requires: ['format', 'body', 'interceptors'],
    provides: ['request', 'delivery'],
    seals: ['body'],
    operations: counted,
  },
  'persona-inject': replacesRequest,
  'max-tokens': {
    ...replacesRequest,
    options: { type: 'object', properties: { cap: { type: 'integer', default: 128_000 } } },
  },
  'slot-pick': { requires: ['request', 'caller'], provides: ['picker'], operations: counted },
  'upstream-call': {
    requires: ['request', 'picker', 'interceptors'],
    provides: ['reply'],
    seals: ['request', 'picker', 'interceptors'],
    operations: counted,
  },
  'usage-mask': { requires: ['reply', 'additions'], provides: ['reply'] },
  'format-encode': {
    requires: ['format', 'delivery', 'reply'],
    provides: ['response'],
    seals: ['reply'],
    operations: counted,
  },
};

/** A pipeline of built-ins, a line each; line 2 is the first. */
export function list(...stages: readonly string[]): string {
  return ['pipeline:', ...stages.map((stage) => `  - use: ${stage}`)].join('\n');
}

/** Those that a request cannot do without, in an order that works. */
export const whole = [
  'auth',
  'body-limit',
  'format-decode',
  'max-tokens',
  'slot-pick',
  'upstream-call',
  'usage-mask',
  'format-encode',
] as const;

function fakeServices(logged: string[], services: Partial<HostServices>): HostServices {
  const nothing = {} as Host; // what these plugins never touch
  return {
    log: recorder(logged),
    models: fakeModels(),
    slots: nothing.slots,
    formats: nothing.formats,
    keys: nothing.keys,
    store: new MemoryStore(),
    live: nothing.live,
    metrics: nothing.metrics,
    stageMetrics: { of: () => ({ time: () => undefined, fault: () => undefined, skip: () => undefined }) },
    isLocal: true,
    dry: false,
    isOfficialClient: () => false,
    resolvePath: (file) => path.resolve(file),
    pseudonym: async () => 'pseudonym',
    secrets: createCipher(undefined),
    now: () => 0,
    clock: clockAt(() => 0),
    connectStage: () => Promise.reject(new Error('There is no network.')),
    kept: new KeptState(),
    events: new EventHub({ dropped: { add: () => undefined } }),
    openCalls: new OpenCalls(),
    callerOf: () => Promise.reject(new Error('There are no keys.')),
    builtinPolicies: { first: () => (candidates) => candidates[0]! },
    ...services,
  };
}

function recorder(lines: string[], bound: object = {}): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level}: ${message} ${JSON.stringify({ ...bound, ...fields })}`);
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => recorder(lines, { ...bound, ...fields }),
  };
}
