import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { Client } from 'pg';
import type { Logger } from '@gw2api/gateway/plugin';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';

/** Store of a measurement's rows, and its name in a config; `remove` leaves nothing behind. */
export interface Place {
  readonly settings: StoreSettings;
  readonly text: string;
  remove(): Promise<void>;
}

export const kinds = ['sqlite', 'postgres'] as const;
export type Kind = (typeof kinds)[number];

/** A file in this folder, or a database of its own on this server. */
export async function makePlace(kind: Kind, folder: string, server: string): Promise<Place> {
  if (kind === 'sqlite') {
    const file = path.join(folder, `gateway-${randomBytes(4).toString('hex')}.db`);
    return { settings: { kind, file }, text: `sqlite:${file}`, remove: async () => undefined };
  }
  const name = `gw2api_bench_${randomBytes(6).toString('hex')}`;
  await onServer(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    settings: { kind, url: url.href },
    text: url.href,
    remove: () => onServer(server, `drop database ${name} with (force)`),
  };
}

export function openPlace({ settings }: Place) {
  return openStore(settings, { log: complaining, secretKey: 'of a measurement' });
}

const say = (fields: object, message: string) => console.log(`the store says: ${message}`, fields);
const nothing = () => undefined;
const complaining: Logger = {
  debug: nothing,
  info: nothing,
  warn: say,
  error: say,
  child: () => complaining,
};

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
