import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Live } from '#src/plugin/contract/live.js';
import { connectIpc } from '#src/cli/workers/ipc/live.js';
import { IpcHub } from '#src/cli/workers/ipc/hub.js';
import { RpcChannel, type RpcPort } from '#src/cli/workers/ipc/rpc-channel.js';

/** What goes over it is copied and comes later, as between processes; `end` is what a killed process looks like. */
export class IpcRig {
  readonly #hub: IpcHub;
  readonly #now: () => number;
  readonly #ports = new Map<Live, MessagePort>();
  /** How many messages the hub has sent and received. */
  messages = 0;

  constructor({ now = Date.now }: { readonly now?: () => number } = {}) {
    this.#now = now;
    this.#hub = new IpcHub({ now });
  }

  /** `now`: the clock of the process that joins, where that is another one. */
  async connect(now = this.#now): Promise<Live> {
    const { port1, port2 } = new MessageChannel();
    this.#hub.connect(new RpcChannel(portToPrimary(port1, () => (this.messages += 1))));
    const live = await connectIpc(new RpcChannel(portToPrimary(port2)), { now });
    this.#ports.set(live, port2);
    return live;
  }

  /** An instance that goes without a word. */
  kill(live: Live): void {
    this.#ports.get(live)?.close();
  }

  /** All of them. */
  end(): void {
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
  }
}

function portToPrimary(port: MessagePort, count: () => void = () => undefined): RpcPort {
  return {
    send: (message) => {
      count();
      port.postMessage(JSON.stringify(message));
    },
    onMessage: (listener) => {
      port.on('message', (text: string) => {
        count();
        listener(JSON.parse(text));
      });
    },
    onClose: (listener) => void port.on('close', listener),
  };
}
