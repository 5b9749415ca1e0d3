import { ConfigError, formatProblem, type Config } from '../config/config.js';
import type { Environment } from '../config/substitute.js';
import { warningsOf } from '../config/warnings.js';
import { weaknessOf } from '../first-start.js';
import { Gateway } from '../gateway.js';
import { loadGatewayConfigFile } from '../load-gateway-config.js';
import { describePipeline } from '../pipeline/describe.js';
import { createLogger } from '../telemetry/logs.js';
import { otherFile } from './serve.js';

/** The pipeline of a config as it will run, and what is strange about it. Throws ConfigError. */
export async function check(file: string, env: Environment): Promise<string> {
  const config = await loadGatewayConfigFile(file, env, otherFile);
  // Without its store and without others: to check a config makes no file, and asks no server.
  const alone: Config = { ...config, store: { kind: 'memory' }, live: { kind: 'memory' } };
  const gateway = await Gateway.create(alone, {
    log: createLogger('silent'),
    masterKey: '',
    loadConfig: () => Promise.resolve(config),
  });
  const text = describePipeline(config, gateway.pipeline);
  const problems = await gateway.pipeline.retire();
  await gateway.close();
  if (problems.length > 0) throw new ConfigError(problems);
  const weakness = weaknessOf(env['GW2API_API_KEY'] ?? '');
  const told = [...warningsOf(config).map(formatProblem), ...(weakness ? [weakness] : [])];
  const warnings = told.map((warning) => `\nwarning: ${warning}`);
  return `${text}${warnings.join('')}${warnings.length > 0 ? '\n' : ''}`;
}
