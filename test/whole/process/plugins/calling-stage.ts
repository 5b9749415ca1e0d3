import { PanelClient } from '../../console/panel-client.js';
import { stages, type GatewayUnderTest } from '../../harness.js';
import type { TempFolders } from '../../temp-folders.js';

/** Row of a request, or of a call by a stage, as the API of the console shows it. */
export interface CallRow {
  readonly id: string;
  readonly label: string | null;
  readonly parent: string | null;
  readonly request_id: string;
  readonly key: { readonly id: string } | null;
  readonly slot: string | null;
  readonly model: string;
  readonly pipeline: string;
  readonly status: number;
  readonly code: string | null;
  readonly failed: boolean;
  readonly attempts: number;
  readonly shown: Readonly<Record<string, number>>;
  readonly cost: { readonly billed_usd: number } | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** Module of a stage that runs `code` before the stages below; `setup` runs with `host`. */
export function callingStage(code: string, setup = ''): string {
  return `
    import { definePlugin, foldMessage, hold } from '@gw2api/gateway/plugin';
    const ask = (text, model = 'haiku-5') => ({ model, max_tokens: 10, messages: [{ role: 'user', content: text }] });
    export default definePlugin({
      name: 'calling', requires: ['request', 'caller'],
      setup: (_, host) => {
        ${setup}
        return async (ctx, next) => { ${code}; await next(); };
      },
    });`;
}

/** The default pipeline with such a stage above slot-pick. */
export async function callingPipeline(
  folders: TempFolders,
  code: string,
  setup?: string,
): Promise<readonly object[]> {
  const folder = await folders.make({ 'calling.mjs': callingStage(code, setup) });
  const own = { use: `${folder}/calling.mjs` };
  return stages().flatMap((each) => ('use' in each && each.use === 'slot-pick' ? [own, each] : [each]));
}

/** Rows of the ledger, once every request and every call has ended. */
export async function rowsOf({ gateway, url }: GatewayUnderTest, query = ''): Promise<readonly CallRow[]> {
  await gateway.exchanges.idle();
  await gateway.services.openCalls.idle();
  await gateway.services.ledger.flush();
  const { data } = (await new PanelClient(url).ask('GET', `/requests${query}`)) as {
    data: readonly CallRow[];
  };
  return data;
}
