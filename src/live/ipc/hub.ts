import type { Claims, Json, Live, Meters } from '../../plugin/index.js';
import type { RpcChannel } from './rpc-channel.js';
import { PlaceGrants, type Member } from './place-grants.js';
import { sentEntry, type SentEntry, type SentWrite } from './shared-map.js';
import { MemoryHub } from '../memory/hub.js';

/** Hub for instances in several processes: their shared state is kept in this process. */
export class IpcHub {
  readonly #hub: MemoryHub;
  readonly #grants = new PlaceGrants();
  readonly #lines = new Set<RpcChannel>();

  constructor(options: { readonly now?: () => number } = {}) {
    this.#hub = new MemoryHub(options);
  }

  /** Lets the process at the other end of `line` join. */
  connect(line: RpcChannel): void {
    line.on('live.join', () => this.#join(line));
  }

  /**
   * Adds an instance, and sends it a snapshot before the answer to `live.join`. The instance is removed when
   * the channel closes.
   */
  #join(line: RpcChannel): void {
    const live = this.#hub.connect();
    const leave = this.#sharePlaces(line);
    this.#shareMap(line, live);
    shareMeters(line, live.meters);
    shareClaims(line, live.claims);
    const unlock = shareLocks(line, live);
    let isOver = false;
    const close = () => {
      if (isOver) return;
      isOver = true;
      this.#lines.delete(line);
      leave();
      unlock();
      void live.close();
    };
    this.#lines.add(line);
    line.on('live.message', (message: readonly [topic: string, message: Json]) => {
      for (const other of this.#lines) if (other !== line) other.tell('live.message', message);
    });
    line.on('live.leave', close);
    line.onClose(close);
  }

  #shareMap(line: RpcChannel, { shared, instance }: Live): void {
    let taken = 0;
    const took = () => {
      if (++taken % writesUntold === 0) line.tell('live.taken', taken);
    };
    line.on('live.set', ([key, value, ttlMs]: SentEntry) => {
      shared.set(key, value, ttlMs ?? Infinity);
      took();
    });
    line.on('live.delete', (key: string) => {
      shared.delete(key);
      took();
    });
    const tell = (key: string, value: Json | undefined, ttlMs: number) => {
      const entry = value === undefined ? null : sentEntry([key, value, ttlMs]);
      line.tell('live.written', [taken, key, entry] satisfies SentWrite);
    };
    for (const entry of this.#hub.replicate(instance, tell)) tell(...entry);
  }

  /** Shares permits with an instance; returns a function that releases its permits. */
  #sharePlaces(line: RpcChannel): () => void {
    const grants = this.#grants;
    const news = new Set<string>();
    const tellNews = () => {
      for (const slot of news) line.tell('live.elsewhere', [slot, grants.heldElsewhere(member, slot)]);
      news.clear();
    };
    const member: Member = {
      granted: (slot, grant) => line.tell('live.granted', [slot, grant]),
      recall: (slot) => line.tell('live.recall', slot),
      changed: (slot) => {
        if (news.size === 0) setImmediate(tellNews);
        news.add(slot);
      },
    };
    grants.join(member);
    for (const slot of grants.slots) line.tell('live.elsewhere', [slot, grants.heldElsewhere(member, slot)]);
    line.on('live.take', ([slot, limit]: readonly [string, number]) => grants.take(member, slot, limit));
    line.on('live.held', ([slot, held, givenBack]: readonly [string, number, number]) =>
      grants.report(member, slot, held, givenBack),
    );
    line.on('live.returned', (slot: string) => grants.returned(member, slot));
    return () => grants.leave(member);
  }
}

/** Writes per acknowledgement (`live.taken`), which limits the writes that an instance has to remember. */
const writesUntold = 256;

function shareMeters(line: RpcChannel, meters: Meters): void {
  type Asked = readonly [method: keyof Meters, meter: string, ...rest: [never, never]];
  line.on('live.meter', ([method, meter, ...rest]: Asked) => meters[method](meter, ...rest));
}

function shareClaims(line: RpcChannel, claims: Claims): void {
  line.on('live.claim', (asked: Parameters<Claims['take']>) => claims.take(...asked));
  line.on('live.unclaim', (told: Parameters<Claims['release']>) => claims.release(...told));
}

/** Shares locks with an instance; returns a function that releases the locks that it holds or waits for. */
function shareLocks(line: RpcChannel, live: Live): () => void {
  const held = new Map<string, () => void>();
  let isOver = false;
  line.on('live.lock', (name: string) => {
    return new Promise<void>((resolve) => {
      const work = () =>
        new Promise<void>((unlock) => {
          resolve();
          if (isOver) unlock();
          else held.set(name, unlock);
        });
      void live.exclusively(name, work);
    });
  });
  line.on('live.unlock', (name: string) => {
    held.get(name)?.();
    held.delete(name);
  });
  return () => {
    isOver = true;
    for (const unlock of held.values()) unlock();
    held.clear();
  };
}
