import {
  changedError,
  EventStream,
  globMatcher,
  isGatewayError,
  Type,
  type GatewayError,
  type Intercept,
  type ModelEvent,
  type ModelReply,
} from '@gw2api/gateway/plugin';
import type { Decoded, FormatContext } from '@gw2api/gateway/plugin/format';

/** Options of the format. */
export const codexOptions = Type.Object({
  /**
   * Clients that get the variants that Codex understands, by their header `originator`; `*` is any run of characters.
   * Affects a stop by length, an explained refusal and a conversation that is too long.
   */
  codexClients: Type.Array(Type.String({ minLength: 1 }), { default: ['codex*'] }),
});

/** True for a caller that one of `codexClients` names. */
export function isCodex({ options, headers }: Pick<FormatContext, 'options' | 'headers'>): boolean {
  const { originator } = headers;
  const { codexClients: patterns } = options;
  if (typeof originator !== 'string' || !Array.isArray(patterns)) return false;
  return globMatcher(patterns.map((pattern) => String(pattern).toLowerCase()))(originator.toLowerCase());
}

/**
 * A streamed request whose conversation is too long is answered with a stream that fails: Codex compacts the
 * conversation for the code in a stream alone.
 */
export function failingInStream(decoded: Decoded): Decoded {
  if (!decoded.stream) return decoded;
  const { intercept: inner = (request, call) => call(request) } = decoded;
  const intercept: Intercept = async (request, call, ctx) => {
    try {
      return await inner(request, call, ctx);
    } catch (error) {
      if (!isGatewayError(error) || !isTooLong(error)) throw error;
      return failingReply(changedError(error, { code: 'context_length_exceeded' }));
    }
  };
  return { ...decoded, intercept };
}

/** `error` of a failed response with the wait that Codex reads from its message. */
export function withWait(
  error: { readonly code: string; readonly message: string },
  headers: GatewayError['headers'],
): { code: string; message: string } {
  const { code, message } = error;
  if (code !== 'rate_limit_exceeded' || /try again in \d/i.test(message)) return error;
  const { 'retry-after': stated = '' } = headers;
  const seconds = /^\d{1,6}$/.test(stated) ? Number(stated) : defaultWaitSeconds;
  return { code, message: `${message} Please try again in ${seconds} s.` };
}

const defaultWaitSeconds = 5;

function isTooLong({ code, status, message }: GatewayError): boolean {
  if (code === 'context_length_exceeded') return true;
  return status === 400 && /prompt is too long|input is too long|exceeds? context limit/i.test(message);
}

function failingReply(error: GatewayError): ModelReply {
  return { status: 200, headers: {}, model: '', attempts: 1, events: EventStream.from(failing(error)) };
}

// oxlint-disable-next-line require-yield
async function* failing(error: GatewayError): AsyncGenerator<readonly ModelEvent[]> {
  throw error;
}
