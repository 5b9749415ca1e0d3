import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { portToWorker } from '#src/cli/workers/message-port.js';
import { connectIpc } from '#src/cli/workers/ipc/live.js';
import { IpcHub } from '#src/cli/workers/ipc/hub.js';
import { RpcChannel } from '#src/cli/workers/ipc/rpc-channel.js';

/** One end of a channel between processes; what it sends comes out at the other end. */
class ChannelEnd extends EventEmitter {
  connected = true;
  other: ChannelEnd = this;

  send(message: object, onSent: () => void): void {
    const text = JSON.stringify(message);
    setImmediate(() => {
      this.other.emit('message', JSON.parse(text));
      onSent();
    });
  }
}

/** An instance that lives in a worker; `emit` says what Node says of the worker's process. */
async function connectWorker(hub: IpcHub) {
  const [primary, worker] = [new ChannelEnd(), new ChannelEnd()];
  [primary.other, worker.other] = [worker, primary];
  hub.connect(new RpcChannel(portToWorker(primary)));
  const live = await connectIpc(new RpcChannel(portToWorker(worker)));
  return { live, emit: (event: string) => primary.emit(event) };
}

describe('the channel to a worker', () => {
  for (const events of [['exit'], ['disconnect'], ['exit', 'disconnect'], ['disconnect', 'exit']])
    it(`gives back its places and its locks at ${events.join(' and ')}`, async () => {
      const hub = new IpcHub();
      const killed = await connectWorker(hub);
      const other = await connectWorker(hub);
      expect(await killed.live.permits.take('a', 1)).to.equal(true);
      let isHeld: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (isHeld = resolve));
      void killed.live.withLock('lock', () => new Promise<never>(() => isHeld()));
      await held;
      expect(await other.live.permits.take('a', 1)).to.equal(false);

      const unlocked = other.live.withLock('lock', async () => 'mine');
      for (const event of events) killed.emit(event);
      expect(await unlocked).to.equal('mine');
      expect(await other.live.permits.take('a', 1)).to.equal(true);
      expect(await other.live.permits.take('a', 1), 'and there is no second one').to.equal(false);
    });

  it('leaves nothing behind of what a killed worker has asked last', async () => {
    const hub = new IpcHub();
    const killed = await connectWorker(hub);
    const other = await connectWorker(hub);
    const asked = killed.live.permits.take('a', 1);
    killed.emit('exit');
    await Promise.race([asked, other.live.meters.read('none')]);
    expect(await other.live.permits.take('a', 1)).to.equal(true);
  });
});
