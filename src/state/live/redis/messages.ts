import type { Json } from '../../../plugin/index.js';
import type { Messages } from '../../../plugin/core.js';
import type { RedisNames } from './names.js';
import { endsTheSession, type RedisSession } from './session.js';
import { Subscriptions } from '../subscriptions.js';

/** Publish/subscribe over Redis; messages are lost while Redis is down. */
export class RedisMessages implements Messages {
  readonly #instance: string;
  readonly #channel: string;
  readonly #topics = new Subscriptions();
  #session: RedisSession | undefined;

  constructor(instance: string, { channels }: RedisNames) {
    this.#instance = instance;
    this.#channel = channels.messages;
  }

  send(topic: string, message: Json): void {
    const text = JSON.stringify([this.#instance, topic, message]);
    this.#session?.ask((redis) => redis.publish(this.#channel, text)).catch(endsTheSession);
  }

  receive(topic: string, listener: (message: Json) => void): () => void {
    return this.#topics.receive(topic, listener);
  }

  deliver(text: string): void {
    const [from, topic, message] = JSON.parse(text) as [string, string, Json]; // as `send` of an instance wrote it
    if (from !== this.#instance) this.#topics.hand(topic, message);
  }

  join(session: RedisSession): void {
    this.#session = session;
  }

  lose(): void {
    this.#session = undefined;
  }
}
