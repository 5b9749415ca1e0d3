import { expect } from 'chai';
import { ProcessWorkshop } from '../../gateway-process.js';
import { startHeldUpstream, type HeldUpstream } from '../../held-upstream.js';
import { endsBySigterm, isNoise, makeNoise, refused, startUnread } from '../telemetry/unread-log.js';
import {
  workshop,
  endProcesses,
  env,
  type Settings,
  slotAt,
  startWith,
  send,
  startStreams,
} from './workers.js';

describe('signals to a primary', function () {
  endProcesses(this);
  let upstream: HeldUpstream;
  beforeEach(async () => {
    upstream = await startHeldUpstream();
  });
  afterEach(() => upstream.close());

  /** A stream in each worker, begun. */
  async function startStreaming(settings: Settings = {}) {
    const started = await startWith({ slots: [slotAt(upstream.url)], ...settings });
    return { ...started, streams: await startStreams(upstream, started.url) };
  }

  it('SIGTERM ends what takes too long with an error event', async () => {
    const { gateway, streams } = await startStreaming({ listen: { shutdownTimeout: '50ms' } });
    gateway.signal('SIGTERM');
    for (const { stream } of streams) expect(await stream.text()).to.include('was shut down before');
    expect(await gateway.ended).to.include({ code: 0, stderr: '' });
  });

  it('SIGTERM that reaches the workers too, as from a service manager, is the same', async () => {
    const { gateway, url, streams } = await startStreaming();
    const other = await send(`${url}/health`, { headers: {} });
    await other.text();
    const pids = gateway.logged.flatMap(({ worker, pid }) => (worker === undefined ? [] : [Number(pid)]));
    for (const pid of new Set(pids)) process.kill(pid, 'SIGTERM');
    gateway.signal('SIGTERM');
    await gateway.log('Waiting for requests to finish.');
    for (const { answer } of streams) answer.finish();
    for (const { stream } of streams) expect(await stream.text()).to.include('message_stop');
    expect(await gateway.ended).to.include({ code: 0, stderr: '' });
  });

  it('the second one ends all of them at once', async () => {
    const { gateway, streams } = await startStreaming({ listen: { shutdownTimeout: '1h' } });
    const broken = streams.map(({ stream }) => stream.text().catch(() => 'broken off'));
    gateway.signal('SIGINT');
    await gateway.log('Waiting for requests to finish.');
    gateway.signal('SIGTERM');
    expect(await gateway.ended).to.include({ code: 1, signal: null });
    expect(await Promise.all(broken)).to.deep.equal(['broken off', 'broken off']);
  });

  it('kill -9 leaves no process: what is under way ends, and the port is free meanwhile', async () => {
    const { gateway, url, streams } = await startStreaming({ listen: { shutdownTimeout: '1m' } });
    gateway.signal('SIGKILL');
    await gateway.line(({ msg }) => msg.startsWith('The primary process has exited'));
    const next = await workshop.start({ env: { ...env, PORT: new URL(url).port } });
    expect(await next.url()).to.equal(url);
    for (const { answer } of streams) answer.finish();
    for (const { stream } of streams) expect(await stream.text()).to.include('message_stop');
    const { signal } = await gateway.ended; // every process that has its output open has ended
    expect(signal).to.equal('SIGKILL');
  });
});

describe('a gateway whose standard output nobody reads', function () {
  this.timeout(40_000);
  const processes = new ProcessWorkshop();
  afterEach(() => processes.end());

  it('ends by SIGTERM with 2 of its processes serving', () => endsBySigterm(processes, 2));

  it('gives what waits some time before it ends', async () => {
    const { gateway, url } = await startUnread(processes);
    await makeNoise(url, 12, 256 * 1024);
    gateway.signal('SIGTERM');
    await refused(url);
    gateway.resumeOutput();
    await gateway.ended;
    expect(gateway.logged.filter(isNoise)).to.have.length(12);
    await gateway.log('Shutting down.');
  });
});
