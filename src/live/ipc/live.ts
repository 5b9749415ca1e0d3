import { randomUUID } from 'node:crypto';
import type { Claims, Json, Live, Messages, MeterReading, Meters } from '../../plugin/index.js';
import type { RpcChannel } from './rpc-channel.js';
import { IpcPlaces } from './places.js';
import { IpcSharedMap } from './shared-map.js';
import { MemoryClaims } from '../memory/claims.js';
import { MemoryLocks } from '../memory/locks.js';
import { MemoryMeters } from '../memory/meters.js';
import { Subscriptions } from '../subscriptions.js';

/** Connects to the shared state of an `IpcHub` at the other end of a channel. */
export async function connectIpc(
  line: RpcChannel,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<Live> {
  const messages = messagesOver(line);
  const shared = new IpcSharedMap(line, now);
  const places = new IpcPlaces(line);
  await line.ask('live.join');
  return {
    instance: randomUUID(),
    get isAway() {
      return line.isClosed;
    },
    caches: { shared_state: () => shared.fill },
    shared,
    places,
    meters: metersOver(line, now),
    messages,
    claims: claimsOver(line, now),
    exclusively: locksOver(line),
    close: async () => {
      line.tell('live.leave');
      line.flush();
    },
  };
}

/** Meters of the hub; after the channel has closed, each instance counts alone. */
function metersOver(line: RpcChannel, now: () => number): Meters {
  const own = new MemoryMeters(now);
  const ask = <Reading>(alone: () => Promise<Reading>, ...asked: readonly unknown[]): Promise<Reading> =>
    line.ask<Reading>('live.meter', asked).catch(alone);
  return {
    take: (...args) => ask(() => own.take(...args), 'take', ...args),
    add: (...args) => ask(() => own.add(...args), 'add', ...args),
    open: (...args) => ask(() => own.open(...args), 'open', ...args),
    read: async (meter) => {
      const reading = await ask<MeterReading | null | undefined>(() => own.read(meter), 'read', meter);
      return reading ?? undefined;
    },
  };
}

/** Claims of the hub; after the channel has closed, claims hold only within this instance. */
function claimsOver(line: RpcChannel, now: () => number): Claims {
  const own = new MemoryClaims(now);
  return {
    take: (...args) => line.ask<string>('live.claim', args).catch(() => own.take(...args)),
    release: (...args) => {
      own.release(...args);
      line.tell('live.unclaim', args);
    },
  };
}

/**
 * Locks of the hub, requested by one caller per name at a time. After the channel has closed, locks hold
 * only within this process.
 */
function locksOver(line: RpcChannel): Live['exclusively'] {
  const own = new MemoryLocks();
  return (name, work) =>
    own.exclusively(name, async () => {
      await line.ask('live.lock', name).catch(() => undefined);
      try {
        return await work();
      } finally {
        line.tell('live.unlock', name);
      }
    });
}

/** Publish/subscribe through the hub, which forwards each message to all other instances. */
function messagesOver(line: RpcChannel): Messages {
  const topics = new Subscriptions();
  line.on('live.message', ([topic, message]: readonly [string, Json]) => topics.hand(topic, message));
  return {
    send: (topic, message) => line.tell('live.message', [topic, message]),
    receive: (topic, listener) => topics.receive(topic, listener),
  };
}
