#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { scenarioHelp } from './scenarios/scenarios.js';
import { startSimulator, type Simulator } from './server.js';

const usage = `Usage: node dist/plugins/upstreams/simulator/main.js [--port N] [--host H]

A Messages upstream that makes its answers up: strict about requests, the same answer for the same request.

  --port N   default 8788; 0 takes any free port
  --host H   default 127.0.0.1
  --help     prints this

Scenarios: write [[sim:NAME key=value …]] into the last user message; several may stand there.
Each also takes for=KEY (only with that credential), times=N (only the first N such requests),
on=generate|count-tokens|models, label=NAME (only with that header x-simulator-label; "" for none).
The HTTP statuses take retry-after=2, retry-after-ms=50, x-should-retry=false, message="…" and code=… (for
error.details.error_code).

${scenarioHelp()}
`;

const options = {
  port: { type: 'string', default: '8788' },
  host: { type: 'string', default: '127.0.0.1' },
  help: { type: 'boolean', default: false },
} as const;

try {
  const { values } = parseArgs({ options });
  if (values.help) process.stdout.write(usage);
  else endOnSignal(await startSimulator({ port: portOf(values.port), host: values.host, keep: 0 }));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new Error(`--port must be a whole number from 0 to 65535, not "${text}".`);
}

function endOnSignal(simulator: Simulator): void {
  process.stdout.write(`gw2api simulator on ${simulator.url}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void simulator.close());
}
