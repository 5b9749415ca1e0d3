import type { Server } from '../measure/lab.js';
import { json } from './target.js';

/** The master key of every gateway that `serve` starts. */
export const masterKey = 'bench-master-key';

/** Keys of a gateway's requests. */
export interface GatewayKeys {
  readonly plain: string;
  /** Key of sessions: it has limits, and its team a budget. */
  readonly limited: string;
}

/** The master key in place of protocol keys. */
export const masterKeys: GatewayKeys = { plain: masterKey, limited: masterKey };

/** Issues protocol keys by the console's API: another build's store is not opened with ours. */
export async function issueKeys(server: Server): Promise<GatewayKeys> {
  const team = await post(server, 'teams', { name: 'bench', usd_per_month: 1_000_000 });
  const limited = { name: 'limited', team: team['id'], ...keyLimits };
  const [one, other] = [await post(server, 'keys', { name: 'plain' }), await post(server, 'keys', limited)];
  return { plain: String(one['key']), limited: String(other['key']) };
}

/** Limits that no run of the bench comes near. */
const keyLimits = {
  requests_per_minute: 100_000_000,
  tokens_per_minute: 1_000_000_000_000,
  tokens_per_day: 1_000_000_000_000,
  max_concurrent: 10_000,
};

async function post({ origin }: Server, what: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${origin}/api/panel/${what}`, {
    method: 'POST',
    headers: { ...json, 'x-api-key': masterKey },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${what}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>; // as the console's API says
}
