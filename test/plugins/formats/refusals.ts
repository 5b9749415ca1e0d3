import { expect } from 'chai';
import { isGatewayError } from '#src/plugin/index.js';
import type { Decoded } from '#src/plugin/format/index.js';

/** The message of the 400 that decoding ends with. */
export async function refusal(decode: () => Decoded | Promise<Decoded>): Promise<string> {
  try {
    await decode();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    expect(error).to.include({ code: 'invalid_request', type: 'invalid_request_error', status: 400 });
    return error.message;
  }
  return expect.fail('It was accepted.');
}
