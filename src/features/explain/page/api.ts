import { call } from '../../../console/web/api/call.js';
import type { GivenRequest } from '../../../console/web/request-form/request-form.js';
import type { Explanation } from '../explanation.js';

export const fetchExplanation = (request: GivenRequest) =>
  call<Explanation>('POST', '/explain', { body: request });
