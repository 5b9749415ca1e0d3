import { itEnds } from './linear.js';
import { replies, requests } from './sized.js';

describe('a translation of 16 MB in small parts ends', () => {
  itEnds([...requests.slice(1), ...replies.slice(1)]);
});
