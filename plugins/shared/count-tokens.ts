import {
  estimateTokens,
  toGatewayError,
  withHeaders,
  type Count,
  type GatewayState,
  type Slot,
  type SlotCall,
  type SlotLease,
  type TokenCount,
} from 'gw2api/plugin';

/** Token count. An account that reports usage windows does not count: it gets an estimate and its usage windows (contract §2.2). */
export async function countTokens(
  lease: SlotLease,
  trace: GatewayState['trace'],
  { request, ...call }: SlotCall,
): Promise<Count> {
  const { slot } = lease;
  const { stream: _, ...counted } = request;
  try {
    if (slot.reportsWindows)
      return { inputTokens: estimateTokens(counted), estimated: true, slot: slot.id, windows: slot.windows };
    const count = await timedCount(slot, trace, { ...call, request: counted });
    return { ...count, slot: slot.id, windows: undefined };
  } catch (error) {
    throw withHeaders(toGatewayError(error), provenance(slot.id, 1));
  } finally {
    lease.release();
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
