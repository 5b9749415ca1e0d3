import {
  answerHeaders,
  committed,
  FirstContent,
  toGatewayError,
  withHeaders,
  type CallTimer,
  type CommitOptions,
  type Host,
  type ModelReply,
  type SlotCall,
  type SlotLease,
} from '@gw2api/gateway/plugin';

export interface Asking
  extends Required<Pick<CommitOptions, 'delivery' | 'see' | 'through' | 'onContent'>>, Pick<Host, 'clock'> {
  /** Upstream calls made for the answer, this one included. */
  readonly attempts: number;
  readonly timer: CallTimer;
  readonly firstContentMs: number;
}

/** Makes one upstream call, up to the commit point. */
export async function ask(
  lease: SlotLease,
  call: SlotCall,
  model: string,
  { attempts, timer, firstContentMs, delivery, see, through, clock, onContent: noteContent }: Asking,
): Promise<ModelReply> {
  const { slot } = lease;
  let answered: ModelReply['headers'] | undefined;
  const isSilent = (): boolean => !answered && firstContentMs >= call.headersTimeoutMs;
  const content = new FirstContent(call.signal, slot.id, firstContentMs, { clock, isSilent });
  const onContent = (): void => {
    noteContent();
    content.come();
    timer.firstToken();
  };
  const onEnd = (): void => {
    timer.lastEvent();
    content.end();
    lease.release();
  };
  try {
    const sent = { ...call, signal: content.signal, hasContent: content.hasCome, progress: timer };
    const { status, headers, events, dropped, leftOut, addedTokens } = await slot.generate(sent);
    answered = headers;
    timer.reach('accepted');
    const onCommit = (): void => lease.answered(headers, content.tookMs);
    const reply = await committed(events, {
      delivery,
      see,
      through,
      hide: slot.hide,
      onContent,
      onCommit,
      onEnd,
    });
    if (dropped) call.report?.(dropped);
    const upstreamModel = call.request.model;
    const answer = { status, headers, model, upstreamModel, slot: slot.id, attempts, events: reply };
    return leftOut?.length || addedTokens !== undefined ? { ...answer, leftOut, addedTokens } : answer;
  } catch (error) {
    throw withHeaders(toGatewayError(content.end(error)), answerHeaders(answered ?? {}));
  }
}
