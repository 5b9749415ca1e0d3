import path from 'node:path';
import { systemClock } from '../plugin/index.js';
import { compileCheck } from '../plugin/format/index.js';
import {
  isHeaderValue,
  type Account,
  type AccountHost,
  type OAuthTokens,
  type OutgoingRequest,
  type TokenStore,
} from '../plugin/upstream/index.js';
import type { AccountKind } from '../plugin/core.js';
import { openHttpClient } from '../engine/transport/http-client.js';
import { toAccount, type AccountLike } from './definitions.js';
import { fakeHost } from './fake-host.js';
import { filledOptions } from './filled-options.js';

export interface AccountSubject {
  readonly kind: AccountLike;
  /** The keys beside `kind` of a valid account; a function starts the service in them, for accounts that refresh. */
  readonly options?: object | (() => object | Promise<object>);
}

/** One rule for every account; `run` rejects if it is broken. */
export interface AccountCheck {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** The conformance suite of accounts: `for (const { name, run } of accountChecks(subject)) it(name, run)`. */
export function accountChecks(subject: AccountSubject): readonly AccountCheck[] {
  return Object.entries(rules).map(([name, rule]) => ({ name, run: () => runRule(rule, subject) }));
}

/** Host of an account outside a gateway: tokens in memory, a lock of one process, a real HTTP client. */
export function accountHost(overrides: Partial<AccountHost> = {}): AccountHost {
  const { log } = fakeHost();
  let work: Promise<unknown> = Promise.resolve();
  return {
    slot: { id: 'test' },
    log,
    connect: (baseUrl) => openHttpClient({ id: 'test', baseUrl, headers: {}, connectTimeoutMs: 5000, log }),
    resolvePath: (file) => path.resolve(file),
    tokens: async () => [memoryTokens(), undefined],
    withLock(hold) {
      const done = work.then(() => hold(new AbortController().signal));
      work = done.catch(() => undefined);
      return done;
    },
    now: systemClock.now,
    clock: systemClock,
    dry: false,
    ...overrides,
  };
}

/** Tokens of one account that no other instance has. */
function memoryTokens(): TokenStore {
  let kept: OAuthTokens | undefined;
  const used = new Set<string>();
  return {
    hasUpdate: false,
    read: async () => kept,
    async put(tokens) {
      kept = tokens;
    },
    use(refreshToken) {
      if (used.has(refreshToken)) throw new Error('The refresh token is already in use.');
      used.add(refreshToken);
    },
    reuse: (refreshToken) => void used.delete(refreshToken),
  };
}

interface Opened {
  readonly kind: AccountKind;
  readonly options: object;
  readonly account: Account;
  /** Connections made so far. */
  readonly connections: () => number;
}

type Rule = (opened: Opened) => Promise<void>;

const rules: Readonly<Record<string, Rule>> = {
  async 'opens without a connection'({ connections }) {
    expect(connections() === 0, 'it has connected while it opened');
  },
  async 'proves a request with headers that can be sent'({ account }) {
    for (const [name, value] of Object.entries(await account.authorize(requestOf()))) {
      expect(/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name), `"${name}" is not a lower-case header name`);
      expect(
        typeof value === 'string' && isHeaderValue(value),
        `${name} has a value that no header can hold`,
      );
    }
  },
  async 'proves each request, in any order'({ account }) {
    const one = account.authorize(requestOf());
    const other = account.authorize(requestOf({ method: 'GET', path: '/v1/models', body: undefined }));
    const names = [await other, await one].map((proof) => Object.keys(proof).toSorted().join());
    expect(names[0] === names[1], `the headers are ${names.join(' and ')}`);
  },
  async 'leaves the request as it is'({ account }) {
    const request = requestOf();
    const before = JSON.stringify(request);
    await account.authorize(request);
    expect(JSON.stringify(request) === before, 'authorize has changed the request');
  },
  async 'gives another proof after a refresh'({ account }) {
    if (!account.refresh) return;
    const refused = await account.authorize(requestOf());
    if (!(await account.refresh(refused, signal(), refusedAnswer))) return;
    const proof = await account.authorize(requestOf());
    expect(
      JSON.stringify(proof) !== JSON.stringify(refused),
      'refresh was true, but the proof is the refused one',
    );
  },
  async 'refreshes once for requests that are refused together'({ account, connections }) {
    const refresh = account.refresh?.bind(account);
    if (!refresh) return;
    const refused = await account.authorize(requestOf());
    const before = connections();
    const refreshes = [1, 2, 3].map(() => refresh(refused, signal(), refusedAnswer));
    const isNew = await Promise.all(refreshes);
    expect(new Set(isNew).size === 1, `refresh was ${isNew.join(', ')}`);
    expect(connections() - before <= 1, 'each of them has asked for a new proof');
  },
  async 'finds no errors in valid options'({ kind, options }) {
    const [error] = kind.check(filledOptions(kind, options));
    expect(error === undefined, `${error?.path.join('.')} ${error?.message}`);
  },
  async 'does not quote its secrets in errors'({ kind, options }) {
    for (const [name, value] of secretsOf(kind, options)) {
      const wrong = { ...options, [name]: `${value}\n\u0000${value}` };
      const schema = compileCheck(kind.options, { useDefaults: true })(wrong);
      const errors = schema.length > 0 ? schema : kind.check(wrong);
      expect(!JSON.stringify(errors).includes(value), `an error of ${name} quotes it`);
    }
  },
};

async function runRule(rule: Rule, { kind: like, options: given = {} }: AccountSubject): Promise<void> {
  const kind = toAccount(like);
  const options = typeof given === 'function' ? await (given as () => object | Promise<object>)() : given;
  const clients: ReturnType<AccountHost['connect']>[] = [];
  const host = accountHost();
  const counting: AccountHost = {
    ...host,
    connect(baseUrl) {
      const client = host.connect(baseUrl);
      clients.push(client);
      return client;
    },
  };
  const account = await kind.open(filledOptions(kind, options), counting);
  try {
    await rule({ kind, options, account, connections: () => clients.length });
  } finally {
    await account.close?.();
    await Promise.all(clients.map((client) => client.close()));
  }
}

function secretsOf(kind: AccountKind, options: object): readonly [name: string, value: string][] {
  const { properties = {} } = kind.options as { properties?: Record<string, { secret?: boolean }> }; // of an object
  return Object.entries(options).filter(([name]) => properties[name]?.secret === true);
}

function requestOf(changes: Partial<OutgoingRequest> = {}): OutgoingRequest {
  return {
    method: 'POST',
    origin: 'https://upstream.example',
    path: '/v1/messages?beta=true',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: '{"model":"test-model"}',
    signal: signal(),
    ...changes,
  };
}

const refusedAnswer = { status: 401, headers: {} };

function signal(): OutgoingRequest['signal'] {
  return new AbortController().signal;
}

function expect(isKept: boolean, message: string): void {
  if (!isKept) throw new Error(`The account breaks a rule: ${message}.`);
}
