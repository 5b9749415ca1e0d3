import type { Claims, Live, Meters } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import type { RpcChannel } from './rpc-channel.js';
import { PermitGrants, type Member } from './permit-grants.js';
import { sentEntry, type SentEntry, type SentWrite } from './shared-map.js';
import { MemoryHub } from '../../../state/live/memory/hub.js';

/** Hub for instances in several processes: their shared state is kept in this process. */
export class IpcHub {
  readonly #hub: MemoryHub;
  readonly #grants = new PermitGrants();
  readonly #channels = new Set<RpcChannel>();

  constructor(options: { readonly now?: () => number } = {}) {
    this.#hub = new MemoryHub(options);
  }

  /** Lets the process at the other end of `line` join. */
  connect(channel: RpcChannel): void {
    channel.on('live.join', () => this.#join(channel));
  }

  /**
   * Adds an instance, and sends it a snapshot before the answer to `live.join`. The instance is removed when
   * the channel closes.
   */
  #join(channel: RpcChannel): void {
    const live = this.#hub.connect();
    const leave = this.#sharePermits(channel);
    this.#shareMap(channel, live);
    shareMeters(channel, live.meters);
    shareClaims(channel, live.claims);
    const unlock = shareLocks(channel, live);
    let isOver = false;
    const close = () => {
      if (isOver) return;
      isOver = true;
      this.#channels.delete(channel);
      this.#announceCount();
      leave();
      unlock();
      void live.close();
    };
    this.#channels.add(channel);
    this.#announceCount();
    channel.on('live.message', (message: readonly [topic: string, message: Json]) => {
      for (const other of this.#channels) if (other !== channel) other.notify('live.message', message);
    });
    channel.on('live.leave', close);
    channel.onClose(close);
  }

  #announceCount(): void {
    for (const channel of this.#channels) channel.notify('live.instances', this.#channels.size);
  }

  #shareMap(channel: RpcChannel, { shared, instance }: Live): void {
    let taken = 0;
    const took = () => {
      if (++taken % maxUnacknowledged === 0) channel.notify('live.acknowledged', taken);
    };
    channel.on('live.set', ([key, value, ttlMs]: SentEntry) => {
      shared.set(key, value, ttlMs ?? Infinity);
      took();
    });
    channel.on('live.delete', (key: string) => {
      shared.delete(key);
      took();
    });
    const notify = (key: string, value: Json | undefined, ttlMs: number) => {
      const entry = value === undefined ? null : sentEntry([key, value, ttlMs]);
      channel.notify('live.written', [taken, key, entry] satisfies SentWrite);
    };
    for (const entry of this.#hub.replicate(instance, notify)) notify(...entry);
  }

  /** Shares permits with an instance; returns a function that releases its permits. */
  #sharePermits(channel: RpcChannel): () => void {
    const grants = this.#grants;
    const changed = new Set<string>();
    const notifyChanged = () => {
      for (const slot of changed)
        channel.notify('live.elsewhere', [slot, grants.heldElsewhere(member, slot)]);
      changed.clear();
    };
    const member: Member = {
      granted: (slot, grant) => channel.notify('live.granted', [slot, grant]),
      recall: (slot) => channel.notify('live.recall', slot),
      changed: (slot) => {
        if (changed.size === 0) setImmediate(notifyChanged);
        changed.add(slot);
      },
    };
    grants.join(member);
    for (const slot of grants.slots)
      channel.notify('live.elsewhere', [slot, grants.heldElsewhere(member, slot)]);
    channel.on('live.take', ([slot, limit]: readonly [string, number]) => grants.take(member, slot, limit));
    channel.on('live.held', ([slot, held, givenBack]: readonly [string, number, number]) =>
      grants.report(member, slot, held, givenBack),
    );
    channel.on('live.returned', (slot: string) => grants.returned(member, slot));
    return () => grants.leave(member);
  }
}

/** Writes per acknowledgement (`live.acknowledged`), which limits the writes that an instance has to remember. */
const maxUnacknowledged = 256;

function shareMeters(channel: RpcChannel, meters: Meters): void {
  type Asked = readonly [method: keyof Meters, meter: string, ...rest: [never, never]];
  channel.on('live.meter', ([method, meter, ...rest]: Asked) => meters[method](meter, ...rest));
}

function shareClaims(channel: RpcChannel, claims: Claims): void {
  channel.on('live.claim', (asked: Parameters<Claims['take']>) => claims.take(...asked));
  channel.on('live.unclaim', (claim: Parameters<Claims['release']>) => claims.release(...claim));
}

/** Shares locks with an instance; returns a function that releases the locks that it holds or waits for. */
function shareLocks(channel: RpcChannel, live: Live): () => void {
  const held = new Map<string, () => void>();
  let isOver = false;
  channel.on('live.lock', (name: string) => {
    return new Promise<void>((resolve) => {
      const work = () =>
        new Promise<void>((unlock) => {
          resolve();
          if (isOver) unlock();
          else held.set(name, unlock);
        });
      void live.withLock(name, work);
    });
  });
  channel.on('live.unlock', (name: string) => {
    held.get(name)?.();
    held.delete(name);
  });
  return () => {
    isOver = true;
    for (const unlock of held.values()) unlock();
    held.clear();
  };
}
