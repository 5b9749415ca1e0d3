import type { Lab } from '../measure/lab.js';
import { startCollector } from './collector.js';
import { startGateway } from './gateway.js';
import { isNginxInstalled, startNginx } from './nginx.js';
import { plainTarget, startPassThrough } from './plain.js';
import { isPortkeyInstalled, startPortkey } from './portkey.js';
import { targetNames, type StartTarget, type Target, type TargetName } from './target.js';

const startOld: StartTarget = (lab, upstream, isProbed = false) =>
  startGateway(lab, upstream, { checkout: lab.against, isProbed });

export type Targets = ReadonlyMap<TargetName, Target>;

/** Starters of the targets; `direct` is the upstream itself. */
const starters: Readonly<Record<Exclude<TargetName, 'direct'>, StartTarget>> = {
  'pass-through': (lab, upstream) => startPassThrough(lab, upstream),
  gateway: (lab, upstream, isProbed = false) => startGateway(lab, upstream, { isProbed }),
  chat: (lab, upstream) => startGateway(lab, upstream, { kind: 'chat' }),
  traced: async (lab, upstream) =>
    startGateway(lab, upstream, { telemetry: { otlp: await startCollector(), sample: '10%' } }),
  old: startOld,
  'old again': startOld,
  nginx: startNginx,
  portkey: startPortkey,
};

/** Those of these targets that this machine does not have. */
export function missingOf(wanted: readonly TargetName[]): readonly TargetName[] {
  const isInstalled: Partial<Record<TargetName, boolean>> = {
    nginx: isNginxInstalled(),
    portkey: isPortkeyInstalled(),
  };
  return wanted.filter((name) => isInstalled[name] === false);
}

/** Starts the upstream, and these targets in front of it, the builds of the gateway with the probe if they are profiled. */
export async function startTargets(
  lab: Lab,
  wanted: readonly TargetName[],
  isProbed = false,
): Promise<Targets> {
  const direct = plainTarget(await lab.forkServer('test/bench/upstream/process.js'));
  const targets = new Map<TargetName, Target>();
  for (const name of targetNames.filter((known) => wanted.includes(known))) {
    targets.set(name, name === 'direct' ? direct : await starters[name](lab, direct.origin, isProbed));
  }
  return targets;
}
