import { once } from 'node:events';
import { connect } from 'node:net';
import { mark, table } from '../report/table.js';
import { startGateway } from '../targets/gateway.js';
import type { Target } from '../targets/target.js';
import type { Section, Setting } from './section.js';

/** Callers that all connect at once, as after a restart behind a load balancer. */
export const connects: Section = {
  name: 'connects',
  title: '5,000 connects at once, each with one request',
  weight: 1,
  run: measure,
};

const callers = 5000;
const goals = { failed: 0, lastMs: 10_000 } as const;

/** Of the default config, and of Node. */
const backlogs = [4096, 511] as const;

async function measure({ lab }: Setting) {
  const upstream = await lab.forkServer('test/bench/upstream/process.js');
  const rows: (Connected & { backlog: number })[] = [];
  for (const backlog of backlogs) {
    const target = await startGateway(lab, upstream.origin, { backlog });
    rows.push({ backlog, ...(await connectAll(target)) });
    await lab.stop(target.pid);
  }
  const cells = rows.map(({ backlog, connectedMs, lastMs, failed }) => [
    `backlog ${backlog}`,
    connectedMs.toFixed(0),
    `${lastMs.toFixed(0)}${backlog === backlogs[0] ? mark(lastMs, goals.lastMs) : ''}`,
    `${failed}${backlog === backlogs[0] ? mark(failed, goals.failed) : ''}`,
  ]);
  return { text: table(['listen', 'all connected ms', 'all answered ms', 'failed'], cells), rows };
}

interface Connected {
  readonly connectedMs: number;
  readonly lastMs: number;
  /** Refused, reset, or silent. */
  readonly failed: number;
}

async function connectAll({ origin }: Target): Promise<Connected> {
  const beganMs = performance.now();
  const since = () => performance.now() - beganMs;
  const port = Number(new URL(origin).port);
  let connectedMs = 0;
  const answers = Array.from({ length: callers }, async () => {
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(patienceMs, () => socket.destroy(new Error('silent')));
    try {
      await once(socket, 'connect');
      connectedMs = since();
      socket.write('GET /health HTTP/1.1\r\nhost: gateway\r\nconnection: close\r\n\r\n');
      const [chunk] = (await once(socket, 'data')) as [Buffer]; // no encoding is set
      return chunk.toString('latin1').startsWith('HTTP/1.1 200');
    } finally {
      socket.destroy();
    }
  });
  const settled = await Promise.allSettled(answers);
  const failed = settled.filter((each) => each.status === 'rejected' || !each.value).length;
  return { connectedMs, lastMs: since(), failed };
}

const patienceMs = 30_000;
