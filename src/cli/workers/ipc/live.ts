import { randomUUID } from 'node:crypto';
import type { Claims, Live, Messages, MeterReading, Meters } from '../../../plugin/core.js';
import type { Json } from '../../../plugin/index.js';
import type { RpcChannel } from './rpc-channel.js';
import { IpcPermits } from './permits.js';
import { IpcSharedMap } from './shared-map.js';
import { MemoryClaims } from '../../../state/live/memory/claims.js';
import { MemoryLocks } from '../../../state/live/memory/hub.js';
import { MemoryMeters } from '../../../state/live/memory/meters.js';
import { Subscriptions } from '../../../state/live/subscriptions.js';

/** Connects to the shared state of an `IpcHub` at the other end of a channel. */
export async function connectIpc(
  channel: RpcChannel,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<Live> {
  const messages = messagesOver(channel);
  const shared = new IpcSharedMap(channel, now);
  const permits = new IpcPermits(channel);
  let instances = 1;
  channel.on('live.instances', (count: number) => void (instances = count));
  await channel.ask('live.join');
  return {
    instance: randomUUID(),
    get instances() {
      return instances;
    },
    get isDown() {
      return channel.isClosed;
    },
    caches: { shared_state: () => shared.fill },
    shared,
    permits,
    meters: metersOver(channel, now),
    messages,
    claims: claimsOver(channel, now),
    withLock: locksOver(channel),
    close: async () => {
      channel.notify('live.leave');
      channel.flush();
    },
  };
}

/** Meters of the hub; after the channel has closed, each instance counts alone. */
function metersOver(channel: RpcChannel, now: () => number): Meters {
  const own = new MemoryMeters(now);
  const ask = <Reading>(
    alone: () => Reading | Promise<Reading>,
    ...asked: readonly unknown[]
  ): Promise<Reading> => channel.ask<Reading>('live.meter', asked).catch(alone);
  const askForOpen = async (
    alone: () => MeterReading | undefined | Promise<MeterReading | undefined>,
    ...asked: readonly unknown[]
  ): Promise<MeterReading | undefined> =>
    (await ask<MeterReading | null | undefined>(alone, ...asked)) ?? undefined;
  return {
    take: (...args) => ask(() => own.take(...args), 'take', ...args),
    add: (...args) => ask(() => own.add(...args), 'add', ...args),
    open: (...args) => ask(() => own.open(...args), 'open', ...args),
    addOpened: (...args) => askForOpen(() => own.addOpened(...args), 'addOpened', ...args),
    raise: (...args) => askForOpen(() => own.raise(...args), 'raise', ...args),
    read: (meter) => askForOpen(() => own.read(meter), 'read', meter),
  };
}

/** Claims of the hub; after the channel has closed, claims hold only within this instance. */
function claimsOver(channel: RpcChannel, now: () => number): Claims {
  const own = new MemoryClaims(now);
  return {
    take: (...args) => channel.ask<string>('live.claim', args).catch(() => own.take(...args)),
    release: (...args) => {
      own.release(...args);
      channel.notify('live.unclaim', args);
    },
  };
}

/**
 * Locks of the hub, requested by one caller per name at a time. After the channel has closed, locks hold
 * only within this process.
 */
function locksOver(channel: RpcChannel): Live['withLock'] {
  const own = new MemoryLocks();
  return (name, work) =>
    own.withLock(name, async (signal) => {
      await channel.ask('live.lock', name).catch(() => undefined);
      try {
        return await work(signal);
      } finally {
        channel.notify('live.unlock', name);
      }
    });
}

/** Publish/subscribe through the hub, which forwards each message to all other instances. */
function messagesOver(channel: RpcChannel): Messages {
  const topics = new Subscriptions();
  channel.on('live.message', ([topic, message]: readonly [string, Json]) => topics.hand(topic, message));
  return {
    send: (topic, message) => channel.notify('live.message', [topic, message]),
    receive: (topic, listener) => topics.receive(topic, listener),
  };
}
