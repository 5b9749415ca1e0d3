import { GatewayError, type MessagesRequest } from '@gw2api/gateway/plugin';

/**
 * Refuses a request whose history the vendor's server is to hold: without it only the newest message would go
 * out. Clients know the code of the details and send the whole conversation then.
 */
export function refuseThread({ thread }: MessagesRequest & { readonly thread?: unknown }): void {
  if (thread === undefined || thread === null) return;
  throw new GatewayError(
    'invalid_request',
    'thread: is not supported by this upstream; leave it out and send the whole conversation.',
    { details: { error_code: 'thread_unsupported_request' } },
  );
}
