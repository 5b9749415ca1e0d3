import {
  estimateTokens,
  toGatewayError,
  withFields,
  withHeaders,
  withoutRefusal,
  type Count,
  type GatewayError,
  type GatewayState,
  type MessagesRequest,
  type Slot,
  type SlotCall,
  type SlotLease,
  type TokenCount,
} from '@gw2api/gateway/plugin';
import type { TakenBack } from './taken-back/taken-back.js';

/** Error of a call, with the caller's own path of the part at fault. */
export type CallersError = (error: GatewayError, request: MessagesRequest) => GatewayError;

type CountState = Pick<GatewayState, 'request' | 'trace'> & Partial<Pick<GatewayState, 'estimatesCount'>>;

/** Token count. An account that reports usage windows does not count: it gets an estimate and its usage windows. */
export async function countTokens(
  lease: SlotLease,
  { trace, request: asked, estimatesCount }: CountState,
  call: SlotCall,
  { callersError, takenBack }: { readonly callersError: CallersError; readonly takenBack: TakenBack },
): Promise<Count> {
  const { slot } = lease;
  const { stream: _, ...request } = call.request;
  try {
    if (slot.reportsWindows)
      return { inputTokens: estimateTokens(request), estimated: true, slot: slot.id, windows: slot.windows };
    if (estimatesCount)
      return { inputTokens: estimateTokens(request), estimated: true, slot: slot.id, windows: undefined };
    const count = await counted(slot, trace, withFields(call, { request }), takenBack);
    return { ...count, slot: slot.id, windows: undefined };
  } catch (error) {
    const own = callersError(toGatewayError(error), asked);
    throw withoutRefusal(withHeaders(own, provenance(slot.id, trace.calls.length)));
  } finally {
    lease.release();
  }
}

/** Count, repeated without the parts that the upstream has refused. */
async function counted(
  slot: Slot,
  trace: GatewayState['trace'],
  first: SlotCall,
  takenBack: TakenBack,
): Promise<TokenCount> {
  for (let call = takenBack.begin(slot, first); ;) {
    try {
      const count = await timedCount(slot, trace, call);
      takenBack.answered({ slot }, call);
      return count;
    } catch (thrown) {
      const again = takenBack.again(slot, call, toGatewayError(thrown));
      if (!again) throw thrown;
      call = again;
    }
  }
}

async function timedCount(slot: Slot, trace: GatewayState['trace'], call: SlotCall): Promise<TokenCount> {
  const timer = trace.call(slot.id);
  try {
    const count = await slot.countTokens(call);
    timer.end();
    return count;
  } catch (error) {
    timer.fail(toGatewayError(error));
    throw error;
  }
}

/** Headers that name the slot and the attempts, also on an error. */
export function provenance(slot: string, attempts: number): Readonly<Record<string, string>> {
  return { 'x-gw-slot': slot, 'x-gw-attempts': String(attempts) };
}
