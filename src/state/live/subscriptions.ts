import type { Json } from '../../plugin/index.js';
import type { Messages } from '../../plugin/core.js';

type Listener = Parameters<Messages['receive']>[1];

/** Message listeners of this instance, by topic. */
export class Subscriptions {
  readonly #listeners = new Map<string, Map<symbol, Listener>>();

  receive(topic: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(topic) ?? new Map<symbol, Listener>();
    this.#listeners.set(topic, listeners);
    const id = Symbol(topic);
    listeners.set(id, listener);
    return () => {
      listeners.delete(id);
      if (listeners.size === 0 && this.#listeners.get(topic) === listeners) this.#listeners.delete(topic);
    };
  }

  hand(topic: string, message: Json): void {
    for (const listener of this.#listeners.get(topic)?.values() ?? []) listener(message);
  }
}
