import { ConfigError } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { loadGatewayConfigFile, otherFile } from '../gateway/load-config.js';
import { counted } from '../kit/plural.js';
import { within } from '../kit/time/within.js';
import { version } from '../kit/version.js';
import { check } from './check.js';
import { disk, dotEnv, secrets } from './doctor/files.js';
import { finding, type Finding, type Patient } from './doctor/finding.js';
import { weakSecrets } from './weak-secrets.js';
import { clock, descriptors, memory, nodeVersion } from './doctor/machine.js';
import { live, port, store, type Clocks } from './doctor/services.js';

export interface DoctorOptions {
  /** Also resolves the slots and queries them, as `check --online` does, and calls each once. */
  readonly isOnline: boolean;
  /** Without the calls of `isOnline`. */
  readonly skipsCalls?: boolean;
  readonly isJson: boolean;
}

/** Checks for problems that would keep a gateway from serving, without changes and in bounded time. */
export async function doctor(
  file: string,
  env: Environment,
  { isJson, ...options }: DoctorOptions,
): Promise<{ readonly text: string; readonly exitCode: 0 | 1 }> {
  const findings = await findingsOf(file, env, options);
  const problems = findings.filter(({ state }) => state === 'problem').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  const text = isJson
    ? `${JSON.stringify({ version, config: file, problems, warnings, findings }, null, 2)}\n`
    : report(file, findings, { problems, warnings });
  return { text, exitCode: problems > 0 ? 1 : 0 };
}

async function findingsOf(
  file: string,
  env: Environment,
  { isOnline, skipsCalls = false }: Omit<DoctorOptions, 'isJson'>,
): Promise<readonly Finding[]> {
  const cwd = process.cwd();
  const first = [
    nodeVersion(),
    await look('.env', () => dotEnv({ cwd })),
    await look('secrets', () => secrets({ env, cwd })),
  ].flat();
  const config = await loadGatewayConfigFile(file, env, otherFile).catch((error: unknown) =>
    findingOf(error),
  );
  if ('state' in config)
    return [
      ...first,
      config,
      { name: 'others', state: 'skipped', text: 'skipped, as the config has problems' },
    ];
  const patient: Patient = { config, env, cwd };
  const clocks: Clocks = new Map();
  const services = await Promise.all([
    look('config', () => pipeline(file, env)),
    look('port', () => port(patient)),
    look('store', () => store(patient, clocks)),
    look('live', () => live(patient, clocks)),
    look('disk', () => disk(patient)),
    look('memory', () => memory(patient)),
    look('open files', () => descriptors(patient)),
  ]);
  const after = [
    await look('clock', () => clock(clocks)),
    isOnline ? await look('online', () => online(file, env), onlineMs) : [],
    isOnline && !skipsCalls ? await look('first call', () => callEach(patient), onlineMs) : [],
  ];
  return [...first, ...services.flat(), ...after.flat()];
}

type Look = () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>;

/** Findings of a check within its time limit; its error is a problem. */
async function look(name: string, run: Look, ms = lookMs): Promise<readonly Finding[]> {
  try {
    return [await within(Promise.resolve().then(run), ms, `no answer within ${ms / 1000} s`)].flat();
  } catch (error) {
    return [{ ...findingOf(error), name }];
  }
}

const lookMs = 15_000;
const onlineMs = 75_000;

function findingOf(error: unknown): Finding {
  if (!(error instanceof ConfigError))
    return finding('config', '', { problem: String(error instanceof Error ? error.message : error) });
  return finding('config', '', {
    problem: `${counted(error.problems.length, 'problem')}:\n${error.message}`,
  });
}

/** The config with its plugins set up, as `check` does it. */
async function pipeline(file: string, env: Environment): Promise<Finding> {
  const { text } = await check(file, env, false);
  const [summary = ''] = text.split('\n');
  const elsewhere = new Set(weakSecrets(env).map((warning) => `warning: ${warning}`)); // what `secrets` says
  const warnings = text.split('\n').filter((line) => line.startsWith('warning: ') && !elsewhere.has(line));
  return finding('config', summary, {
    warning: warnings.length > 0 ? [summary, ...warnings].join('\n') : undefined,
  });
}

async function online(file: string, env: Environment): Promise<Finding> {
  const { text, exitCode } = await check(file, env, true);
  const [, section = ''] = text.split('\nonline\n');
  const lines = section
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .join('\n');
  return finding('online', lines, { warning: exitCode === 0 ? undefined : lines });
}

/** Result of a call of each slot; without any answer the gateway could not serve. */
async function callEach({ config, env }: Patient): Promise<Finding> {
  const { firstCalls } = await import('./first-call.js');
  const calls = await firstCalls(config, { secretKey: env['GW_SECRET_KEY'] });
  const lines = calls.map(
    ({ slot, state, text }) => `${slot}  ${state === 'failed' ? 'FAILED: ' : ''}${text}`,
  );
  const failed = calls.filter(({ state }) => state === 'failed');
  const text = lines.join('\n');
  const isDown = failed.length > 0 && failed.length === calls.length;
  return finding('first call', text, {
    problem: isDown ? text : undefined,
    warning: failed.length > 0 ? text : undefined,
  });
}

const marks = { ok: 'ok', warning: 'warning', problem: 'PROBLEM', skipped: '-' } as const;

function report(
  file: string,
  findings: readonly Finding[],
  { problems, warnings }: { readonly problems: number; readonly warnings: number },
): string {
  const rows = findings.map(({ name, state, text }) => {
    const [first = '', ...rest] = text.split('\n');
    const head = `  ${marks[state].padEnd(8)} ${name.padEnd(12)} ${first}`;
    return [head, ...rest.map((line) => `${' '.repeat(24)}${line}`)].join('\n');
  });
  const verdict =
    problems > 0
      ? `${counted(problems, 'problem')} to fix before it can serve`
      : 'Nothing prevents it from serving';
  return [
    `gw2api ${version}, ${file}`,
    '',
    ...rows,
    '',
    `${verdict}${warnings > 0 ? `, ${counted(warnings, 'warning')}` : ''}.`,
    '',
  ].join('\n');
}
